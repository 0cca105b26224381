/** Closing markers: only above the height that every witness has told, and only when a node was not far ahead. */
import { agreed } from "../../../src/ledger/agreed.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BLOCKS_OF_SIGNED_BYTES,
  type DepositAddressContext,
  type SettlementParams,
} from "../../../machines/deposit-address-context.ts";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { AGING_MS } from "../../../src/payments/outgoing/closing.ts";
import { readPlan, writePlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { Address } from "../../../src/address.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import type { AttemptRecord } from "../../../src/payments/tables/payments.ts";
import { units } from "../../kit/private-fixture.ts";
import { scene, type Ordered, type Scene } from "./scene.ts";

/** What the address was told to wait for. */
const ABOVE = 10_000;

let world: Scene;
let versions = 0;
let order: Ordered;
afterAll(() => world.close());

beforeAll(async () => {
  world = await scene();
  order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(8);
  await world.service.stop();
  world.clock.advance(AGING_MS);
});

/** Plans the next step of the address, whose payout has landed, with nodes that tell these heights. */
async function settled(nodes: Partial<Ledger>, closeAbove: number | null): Promise<unknown> {
  await using service = world.another({
    storage: idle(world.storage),
    ledger: { ...world.ledger, ...nodes },
  });
  await service.start();
  const plan = service.workflows
    .find(({ name }) => name === "deposit-address")
    ?.effects.get("planSettlement");
  if (typeof plan !== "function") throw new Error("addresses plan their settlement");
  const { signal } = new AbortController();
  const run = { key: "", instance: order.address, signal, dueAt: 0, crashes: 0, failures: 0 };
  const fee = String(units((await world.shown(order)).fee ?? "", 6));
  const known = { fee, mayRefund: true };
  const params: SettlementParams = { ...known, closeAbove };
  return await plan(params, run);
}

/** A storage in which a service that runs finds nothing to do. */
function idle(storage: PaymentStorage): PaymentStorage {
  return { ...storage, claim: async () => [], watches: async () => [] };
}

/** Two versions more of the payout, the newest first, which live to these heights and are so old. */
async function withVersions(
  heights: readonly [number, number],
  age: number,
  deed: () => Promise<void>,
): Promise<void> {
  const { storage, clock } = world;
  const payout = (await storage.transaction(order.id))?.payments.find(({ kind }) => kind === "payout");
  const [attempt] = await storage.attempts([payout?.signature ?? ""]);
  if (payout === undefined || attempt === undefined) throw new Error("the payout was signed");
  versions += 1;
  const more = heights.map((lastValidBlockHeight, index): AttemptRecord => {
    const id = `version ${versions}.${index}`;
    return { ...attempt, id, messageHash: id, lastValidBlockHeight, createdAt: clock.now() - age };
  });
  const signatures = [attempt.id, ...more.map(({ id }) => id).toReversed()];
  const plan = writePlan({ ...readPlan(payout.plan), signatures });
  const write = (text: string): PaymentWrite => ({ table: "payments", id: payout.id, set: { plan: text } });
  const inserts = more.map((insert): PaymentWrite => ({ table: "attempts", insert }));
  await storage.commit([{ writes: [...inserts, write(plan)] }]);
  await deed();
  await storage.commit([{ writes: [write(payout.plan)] }]);
}

const told = (lowest: number, highest = lowest): Pick<Ledger, "heights"> => ({
  heights: async () => agreed({ lowest, agreed: lowest, highest }),
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

  test.each([
    ["the newest version", 0],
    ["an older version", 1],
  ])(
    "M23: stand until %s can land no more, however low the height that a node told first",
    async (_, nth) => {
      const last = 2 * ABOVE;
      await withVersions([last - nth, last - 1 + nth], AGING_MS, async () => {
        await expect(settled(told(last), ABOVE)).rejects.toThrow(`closed above height ${last}`);
        expect(await settled(told(last + 1), ABOVE)).toMatchObject({ event: { type: "SWEEP_PLANNED" } });
      });
    },
  );

  test("M23: stand for an hour after the last version was signed, however high the chain is", async () => {
    await withVersions([1, 1], AGING_MS - 1, async () => {
      expect(await settled(told(1_000 * ABOVE), ABOVE)).toMatchObject({
        event: { type: "AT_REST", isBound: true },
      });
    });
  });

  test("stand while the witnesses disagree about one of them, and nothing is planned by the others", async () => {
    const disputed: Partial<Ledger> = {
      ...told(ABOVE + 1),
      async markers(base, seeds) {
        const reading = await world.ledger.markers(base, seeds);
        return { ...reading, markers: reading.markers.with(0, agreed("disputed")) };
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
      witnesses: async () => agreed(witnesses),
      restricted: async () => ({
        ...world.ledger,
        ...told(ABOVE + 1),
        witnesses: async () => agreed(witnesses),
      }),
    };
    const room = world.another({ ledger: { ...world.ledger, ...lowered } }).operator;
    await room.lowerWitnesses(
      { witnesses: 1, minutes: 30 },
      { actor: "ann", reason: "one endpoint is gone" },
    );
    await expect(settled(lowered, ABOVE)).rejects.toThrow(LedgerUnavailable);
  });
});

describe("M23: a sweep that was planned", () => {
  test("is signed only while its markers may be closed: no word of anybody closes them sooner", async () => {
    const context = { closeAbove: ABOVE };
    await expect(signedSweep(told(ABOVE), context)).rejects.toThrow(`closed above height ${ABOVE}`);
    await expect(signedSweep(told(ABOVE + 1), { closeAbove: null })).rejects.toThrow("before their time");
    expect(await signedSweep(told(ABOVE + 1), context)).toMatchObject({ event: { type: "SIGNED" } });
  });
});

/** Plans the sweep, and signs it as nodes tell these heights and the address waits for that one. */
async function signedSweep(
  nodes: Pick<Ledger, "heights">,
  { closeAbove }: Pick<DepositAddressContext, "closeAbove">,
): Promise<unknown> {
  const planned = (await settled(told(ABOVE + 1), ABOVE)) as { readonly writes: readonly PaymentWrite[] };
  const [write] = planned.writes;
  if (write?.table !== "payments" || !("insert" in write)) throw new Error("a sweep is planned");
  const row = { ...write.insert, id: `sweep ${String(versions++)}`, mark: `sweep ${versions}` };
  await world.storage.commit([{ writes: [{ table: "payments", insert: row }] }]);
  const storage: PaymentStorage = {
    ...world.storage,
    async load(id) {
      const instance = await world.storage.load(id);
      if (instance === null || id !== order.address) return instance;
      const snapshot = JSON.parse(instance.snapshot) as { readonly context: object };
      return {
        ...instance,
        snapshot: JSON.stringify({ ...snapshot, context: { ...snapshot.context, closeAbove } }),
      };
    },
  };
  await using service = world.another({
    storage: idle(storage),
    ledger: { ...world.ledger, ...nodes },
  });
  const sign = service.workflows.find(({ name }) => name === "payment")?.effects.get("sign");
  if (typeof sign !== "function") throw new Error("payments are signed");
  await service.start();
  const { signal } = new AbortController();
  const run = { key: "", instance: row.id, signal, dueAt: 0, crashes: 0, failures: 0 };
  try {
    return await sign({ paymentId: row.id, attempt: 1 }, run);
  } finally {
    await world.storage.commit([
      { writes: [{ table: "payments", id: row.id, set: { plan: writePlan(NOTHING), status: "failed" } }] },
    ]);
  }
}

/** What no later look takes for a payment of the order. */
const NOTHING = { feePayer: "" as Address, moves: [], movements: [], indexes: [], withheld: "0" };
