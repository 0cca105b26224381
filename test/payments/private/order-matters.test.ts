/** Matters of orders: what is listed of their rows, and what ends it. */
// modules: private
import { expect, test } from "vitest";
import { createWriteAct } from "../../../src/payments/frame/acts/act.ts";
import type { FoundMatter } from "../../../src/payments/frame/acts/matter.ts";
import {
  uncountedTokens,
  heldOrders,
  missingMoney,
  notedMatters,
  stuckPayments,
  waitingTransfers,
} from "../../../src/payments/private/order-matters.ts";
import { ActRunner } from "../../../src/payments/frame/acts/act-runner.ts";
import type { EvidenceActs } from "../../../src/payments/frame/acts/evidence.ts";
import type { MatterList } from "../../../src/payments/operator/attention/list-matters.ts";
import { MatterCommandHandler } from "../../../src/payments/operator/resolve/resolve.ts";
import { noteMatter } from "../../../src/payments/private/noted-matters.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { systemRandom } from "../../../src/core/runtime.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { addressNamed, assets, holdOf, storedOrder, strayOf, transferOf, USDC } from "./stored-order.ts";

const LIMIT = 100;

async function stored(...writes: readonly PaymentWrite[]): Promise<PaymentStorage> {
  const storage = await memoryStorage();
  const orders = ["1", "2"].map((digit) => ({ table: "orders" as const, insert: storedOrder(digit) }));
  await storage.commit([{ writes: [...orders, ...writes] }]);
  return storage;
}

const [one, two] = [storedOrder("1"), storedOrder("2")];

/** Drops a matter as a person does. */
async function drop(storage: PaymentStorage, matter: FoundMatter, clock = virtualClock()): Promise<void> {
  const runner = new ActRunner({
    storage,
    clock,
    writeAct: createWriteAct({ clock, random: systemRandom }),
    approvals: 1,
  });
  const orders = { orders: null, evidence: {} as EvidenceActs };
  const lookForMatters = async (): Promise<MatterList> => ({
    matters: [{ ...matter, since: 0 }],
    truncated: new Set(),
  });
  const handler = new MatterCommandHandler({ storage, clock, runner, lookForMatters, ...orders });
  await handler.resolve(matter.id, { action: "drop" }, { actor: "ann", reason: "seen" });
}

test("M10: an order with holds is one matter, whichever they are, and none once they have ended", async () => {
  const storage = await stored(
    { table: "holds", insert: holdOf(two.id, "screening", { since: 3 }) },
    { table: "holds", insert: holdOf(one.id, "screening", { since: 7 }) },
    { table: "holds", insert: holdOf(one.id, "hold", { since: 5 }) },
    { table: "holds", insert: holdOf(one.id, "sender_frozen", { since: 1, endedAt: 2 }) },
  );
  const matters = await heldOrders(storage)(LIMIT);
  expect(matters.map(({ id, since, accountId }) => [id, since, accountId])).toEqual([
    [`held:${two.id}`, 3, "acct_1"],
    [`held:${one.id}`, 5, "acct_1"],
  ]);
  expect(matters[0]?.actions).toEqual(["release", "decline", "refundTo"]);
});

test("C12: what is missing is one matter of its order, with the amounts, and only from the second reading on", async () => {
  const level = (order: string, mint: string, missing: bigint): PaymentWrite => ({
    table: "levels",
    insert: {
      id: `${order}:${mint}`,
      order,
      mint,
      received: 9n,
      out: 0n,
      writtenOff: 0n,
      slot: 1,
      short: true,
      missing,
    },
  });
  const storage = await stored(level(one.id, USDC, 4_500_000n), level(two.id, USDC, 0n));
  const [matter, ...more] = await missingMoney(storage, assets)(LIMIT);
  expect(more).toEqual([]);
  expect(matter).toMatchObject({ id: `missing:${one.id}`, actions: ["conclude"] });
  expect(matter?.message).toContain("4.5 USDC of order");
});

test("C23: a dozen foreign mints are one matter, which names ten and how many there are more", async () => {
  const mints = Array.from({ length: 12 }, (_, n) => addressNamed(60 + n));
  const strays = mints.map((mint, at) => strayOf(one.id, mint, { at }));
  const counted = strayOf(two.id, USDC);
  const storage = await stored(
    ...[...strays, counted].map((insert) => ({ table: "deposits" as const, insert })),
  );
  const list = uncountedTokens(storage, assets);
  const [matter, ...more] = await list(LIMIT);
  expect(more).toEqual([]);
  expect(mints.filter((mint) => matter?.message.includes(mint) ?? false)).toEqual(mints.slice(0, 10));
  expect(matter?.message).toContain(" and 2 more.");
  if (matter === undefined) throw new Error("there is a matter");
  const clock = virtualClock();
  await drop(storage, matter, clock);
  expect(await list(LIMIT)).toEqual([]);
  const later = strayOf(one.id, addressNamed(99), { at: clock.now() + 1 });
  await storage.commit([{ writes: [{ table: "deposits", insert: later }] }]);
  expect(await list(LIMIT)).toHaveLength(1);
});

test("what is noted of an order stays a matter until a person drops it, and is noted again", async () => {
  const storage = await stored();
  const note = async (since: number): Promise<readonly PaymentWrite[]> =>
    noteMatter(storage, { kind: "fee_left_out", order: one, since });
  await storage.commit([{ writes: await note(5) }]);
  expect(await note(6)).toEqual([]);
  const [matter] = await notedMatters(storage)(LIMIT);
  expect(matter).toMatchObject({ kind: "fee_left_out", since: 5, transactionId: one.id, actions: ["drop"] });
  if (matter === undefined) throw new Error("there is a matter");
  await drop(storage, matter);
  expect(await notedMatters(storage)(LIMIT)).toEqual([]);
  await expect(drop(storage, matter)).rejects.toThrow("is over");
  await storage.commit([{ writes: await note(9) }]);
  expect(await notedMatters(storage)(LIMIT)).toMatchObject([{ since: 9 }]);
});

test("what waits for funds or a price is one matter of its order, and what does not land says how to end it", async () => {
  const transfers = [
    transferOf(one.id, { kind: "chunk", n: 1, reason: "waiting_for_funds" }),
    transferOf(one.id, { kind: "chunk", n: 2, reason: "waiting_for_funds", stuckSince: 4 }),
    transferOf(two.id, { id: "tr_go", kind: "chunk", n: 0, reason: "low_purse", stuckSince: 2 }),
    transferOf(two.id, { id: "tr_rest", kind: "rest", n: 0, reason: "waiting_for_price" }),
  ];
  const storage = await stored(...transfers.map((insert) => ({ table: "transfers" as const, insert })));
  expect(await waitingTransfers(storage, "waiting_for_funds")(LIMIT)).toMatchObject([
    { id: `waiting_for_funds:${one.id}`, actions: ["retry"] },
  ]);
  expect(await waitingTransfers(storage, "waiting_for_price")(LIMIT)).toMatchObject([
    { transactionId: two.id },
  ]);
  expect((await stuckPayments(storage)(LIMIT)).map(({ id, actions }) => [id, actions])).toEqual([
    ["stuck_payment:tr_go", ["retry", "decline"]],
    ["stuck_payment:tr_chunk_2", ["retry", "foreclose"]],
  ]);
});
