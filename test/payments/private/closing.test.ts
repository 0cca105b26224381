/** Closing markers: only above the height that every witness has told, and only when a node was not far ahead. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BLOCKS_OF_SIGNED_BYTES, type SettlementParams } from "../../../machines/index.ts";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { units } from "../../kit/private-fixture.ts";
import { scene, type Ordered, type Scene } from "./scene.ts";

/** What the address was told to wait for. */
const ABOVE = 10_000;

let world: Scene;
let order: Ordered;
afterAll(() => world.close());

beforeAll(async () => {
  world = await scene();
  order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(8);
  await world.service.stop();
});

/** Plans the next step of the address, whose payout has landed, with nodes that tell these heights. */
async function settled(nodes: Partial<Ledger>, closeAbove: number | null): Promise<unknown> {
  const service = world.another({ ledger: { ...world.ledger, ...nodes } });
  await service.start();
  await service.stop();
  const plan = service.workflows
    .find(({ name }) => name === "deposit-address")
    ?.effects.get("planSettlement");
  if (typeof plan !== "function") throw new Error("addresses plan their settlement");
  const { signal } = new AbortController();
  const run = { key: "", instance: order.address, signal, dueAt: 0, crashes: 0, failures: 0 };
  const fee = String(units((await world.shown(order)).fee ?? "", 6));
  const known = { fee, mayRefund: true };
  const params: SettlementParams = { ...known, closeAbove };
  return plan(params, run);
}

const told = (lowest: number, highest = lowest): Pick<Ledger, "heights"> => ({
  heights: async () => ({ lowest, highest }),
});
const silent: Pick<Ledger, "heights"> = {
  async heights() {
    throw new LedgerUnavailable("too few endpoints answer");
  },
};

describe("M7: the markers of an address whose payout has landed", () => {
  test("are closed as soon as every node is one block above the height", async () => {
    expect(await settled(told(ABOVE + 1), ABOVE)).toMatchObject({ event: { type: "SWEEP_PLANNED" } });
  });

  test.each([
    ["every node is at the height itself", told(ABOVE)],
    ["one node is far above it and another at it", told(ABOVE, ABOVE + 1_000)],
    ["the highest is as far below as bytes live", told(0, ABOVE - BLOCKS_OF_SIGNED_BYTES)],
  ])("stand while %s, and the height is waited for", async (_, nodes) => {
    await expect(settled(nodes, ABOVE)).rejects.toThrow(`closed above height ${ABOVE}`);
  });

  test("stand and age once more where no node is high enough for the height ever to have been told truly", async () => {
    const highest = ABOVE - BLOCKS_OF_SIGNED_BYTES - 1;
    expect(await settled(told(0, highest), ABOVE)).toMatchObject({
      event: { type: "AT_REST", isBound: true, height: highest },
    });
  });

  test("stand while they have not aged, however high the chain is", async () => {
    expect(await settled(told(1_000 * ABOVE), null)).toMatchObject({
      event: { type: "AT_REST", isBound: true },
    });
  });

  test("stand while the witnesses disagree about one of them, and nothing is planned by the others", async () => {
    const disputed: Partial<Ledger> = {
      ...told(ABOVE + 1),
      async markers(base, seeds) {
        const reading = await world.ledger.markers(base, seeds);
        return { ...reading, markers: reading.markers.with(0, "disputed") };
      },
    };
    await expect(settled(disputed, ABOVE)).rejects.toThrow("the witnesses disagree about a marker");
  });

  test("stand while too few nodes tell a height", async () => {
    await expect(settled(silent, ABOVE)).rejects.toThrow(LedgerUnavailable);
  });

  test("stand while too few nodes tell a height, though an operator has lowered the number of witnesses", async () => {
    const witnesses = { needed: 2, answering: 1 };
    const lowered: Partial<Ledger> = {
      ...silent,
      witnesses: async () => ({ ...(await world.ledger.witnesses()), ...witnesses }),
      restricted: async () => ({ ...world.ledger, ...told(ABOVE + 1) }),
    };
    const room = world.another({ ledger: { ...world.ledger, ...lowered } }).operator;
    await room.lowerWitnesses(
      { witnesses: 1, minutes: 30 },
      { actor: "ann", reason: "one endpoint is gone" },
    );
    await expect(settled(lowered, ABOVE)).rejects.toThrow(LedgerUnavailable);
  });
});
