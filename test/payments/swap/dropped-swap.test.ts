/** A completed swap whose bytes every node drops once: the same bytes are sent again, and the swap is made once. */
import { expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { swapTest } from "../../kit/swap-test.ts";

/** Two nodes, both of which answer that they have what is sent to them. They drop it until `lift` is called. */
interface Stage extends SwapFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  /** What was sent while every node dropped it, and afterwards. */
  readonly dropped: readonly unknown[];
  readonly taken: readonly unknown[];
  readonly lift: () => void;
}

const test = swapTest.extend("world", async ({ open }): Promise<Stage> => {
  const world = await open({
    ledgerOn: ({ ledgerOf, chain }) =>
      ledgerOf(["http://one", "http://two"].map((url) => ({ url, fetch: chain.fetch }))),
  });
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: 5_000_000_000n, usdc: 1n });
  world.chain.advance(35);
  const [dropped, taken]: [unknown[], unknown[]] = [[], []];
  let isDropping = true;
  world.chain.faults.add(({ method, params }) => {
    if (method !== "sendTransaction") return undefined;
    (isDropping ? dropped : taken).push(params[0]);
    return isDropping ? { kind: "drop" } : undefined;
  });
  const lift = (): void => {
    isDropping = false;
  };
  return { ...world, customer, alice, dropped, taken, lift };
});

const shown = (world: Stage, id: string) => world.service.transaction(world.customer, id);

/** Looks at the chain a second apart: the first look finds what was sent a moment ago, the next ones send again. */
async function look(world: Stage, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await world.pass(1_000);
    await world.service.settled();
  }
}

test.for([
  ["by the same process", false],
  ["after its service was stopped and started", true],
] as const)(
  "W9: a wallet's swap that was dropped is sent again %s, and the desk gives once",
  async ([_by, isRestarted], { world }) => {
    const { alice, dropped, taken } = world;
    const { lift } = world;
    const [, before] = await world.held(world.desk);
    const { quote, body } = await world.swap(world.customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
    });
    await world.service.settled();
    expect(dropped.length).toBeGreaterThanOrEqual(2);
    expect(new Set(dropped).size).toBe(1);
    world.chain.advance(2);
    expect(await world.ledger.statuses([body.signature])).toEqual([null]);
    expect(await shown(world, body.transactionId)).toMatchObject({ status: "pending" });
    if (isRestarted) {
      await world.service.stop();
      await world.service.start();
    }
    lift();
    await look(world, 3);
    expect(new Set(taken)).toEqual(new Set(dropped));
    await world.finalize();
    expect(await shown(world, body.transactionId)).toMatchObject({
      status: "completed",
      signature: body.signature,
    });
    // Long after its bytes are dead, nothing has been signed or given a second time.
    world.chain.advance(400);
    await look(world, 3);
    expect(world.deskSigned()).toBe(1);
    const [, after] = await world.held(world.desk);
    expect(before - after).toBe(units(quote.outputAmount, 6));
    expect(await world.promised("USDC")).toBe(0n);
  },
);

// modules: private
test("a private swap that was dropped is sent again, and made by one payment", async ({ world }) => {
  const { alice, dropped, taken } = world;
  const { lift } = world;
  const [, before] = await world.held(world.desk);
  const { body } = await world.orderSwap(world.customer, {
    sender: alice,
    give: "SOL",
    get: "USDC",
    amount: "1",
  });
  await world.deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) });
  await world.service.settled();
  expect(dropped.length).toBeGreaterThanOrEqual(2);
  expect(new Set(dropped).size).toBe(1);
  lift();
  await look(world, 3);
  expect(new Set(taken)).toEqual(new Set(dropped));
  await world.settle();
  const { status, recipients } = await shown(world, body.transactionId);
  expect(status).toBe("completed");
  const view = await world.storage.orderedTransaction(body.transactionId);
  const [chunk] = view?.order?.transfers.filter(({ kind }) => kind === "chunk") ?? [];
  expect(await world.storage.attemptsOf(chunk?.id ?? "")).toHaveLength(1);
  expect(world.deskSigned()).toBe(1);
  const [, after] = await world.held(world.desk);
  expect(before - after).toBe(units(recipients[0]?.amount ?? "0", 6));
});
