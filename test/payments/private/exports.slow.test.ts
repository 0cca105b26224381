/** The export of private orders: by asset, what came is what was paid, kept, sent back and withheld. */
// modules: private
import { expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { units } from "../../kit/money.ts";
import { swapTest } from "../../kit/swap-test.ts";
import { MINUTE, orderedAs, SOL } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

type Row = Readonly<Record<string, string>>;

/** All rows of the account, by their header. No cell of these tests has a comma. */
async function exported(service: PaymentService, caller: Caller, now: number): Promise<readonly Row[]> {
  const [from = "", to = ""] = [-86_400_000, 86_400_000].map((ms) => new Date(now + ms).toISOString());
  let text = "";
  for await (const part of await service.exportTransactions(caller, { from, to })) text += part;
  const [header = "", ...lines] = text.split("\r\n");
  const names = header.split(",");
  const rows = lines.slice(0, -2).map((line) => {
    const cells = line.split(",");
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
  });
  expect(lines.at(-2)).toBe(`#end,${rows.length}`);
  return rows;
}

const decimalsOf = (asset: string): number => (asset === "SOL" ? 9 : 6);

type Shown = Awaited<ReturnType<PaymentService["transaction"]>>;

/** What came and has no row: the difference, by asset. */
function missing(
  { received = [], transactionId }: Shown,
  rows: readonly Row[],
): Readonly<Record<string, bigint>> {
  const sums = new Map<string, bigint>();
  const add = (asset: string, amount: bigint): void => void sums.set(asset, (sums.get(asset) ?? 0n) + amount);
  for (const { asset, amount } of received) add(asset, units(amount, decimalsOf(asset)));
  for (const { asset = "", amount = "", transactionId: id } of rows) {
    if (id === transactionId) add(asset, -units(amount, decimalsOf(asset)));
  }
  return Object.fromEntries([...sums].filter(([, left]) => left !== 0n));
}

const kindsOf = (rows: readonly Row[]): readonly string[] =>
  rows.map(({ kind, asset }) => `${kind} ${asset}`);

test("Q11: an order that got too much, and another asset, adds up", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdt: 7_000_000n });
  await world.deposit(order.address, { usdc: order.due + 5_000_000n });
  await world.settle(8);
  // One asset goes back at a time.
  for (let round = 0; round < 3; round++) await world.passAndSettle(11 * MINUTE, 6);
  const shown = await world.shown(order);
  const rows = await exported(world.service, world.customer, world.clock.now());
  expect(missing(shown, rows)).toEqual({});
  expect(kindsOf(rows).toSorted()).toEqual(["excess USDC", "fee USDC", "payment USDC", "refund USDT"]);
  expect(rows.find(({ kind }) => kind === "excess")).toMatchObject({
    address: world.alice.address,
    amount: shown.refunds.find(({ asset }) => asset === "USDC")?.amount,
  });
  await world.judge();
});

test("Q11: a payroll of which one cannot be paid, and one that got too little, add up", async ({ open }) => {
  const world = await open();
  const carol = world.wallet("carol", { usdc: 1n });
  const to = [world.bob, carol].map(({ address }) => ({ address, amount: "20" }));
  const payroll = orderedAs((await world.order(world.customer, { sender: world.alice, to })).body);
  const short = await world.sendTo({ amount: "0.5", asset: "SOL" });
  await world.freeze(carol, "USDC");
  await world.deposit(payroll.address, { usdc: payroll.due });
  await world.deposit(short.address, { lamports: SOL / 4n });
  await world.settle(20);
  await world.passAndSettle(31 * MINUTE, 10);
  const rows = await exported(world.service, world.customer, world.clock.now());
  const [partial, failed] = [await world.shown(payroll), await world.shown(short)];
  expect([partial.reason, failed.reason]).toEqual(["PARTIAL_PAYOUT", "INCOMPLETE_DEPOSIT"]);
  expect([missing(partial, rows), missing(failed, rows)]).toEqual([{}, {}]);
  const of = (id: string): readonly string[] => kindsOf(rows.filter((row) => row["transactionId"] === id));
  expect(of(payroll.id)).toEqual(["payment USDC", "fee USDC", "refund USDC"]);
  expect(of(short.id)).toEqual(["refund SOL", "cost SOL"]);
  await world.judge();
});

swapTest("Q11: a private swap adds up in what was given, and says what it has brought", async ({ open }) => {
  const world = await open();
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: SOL });
  world.chain.advance(35);
  const { body } = await world.orderSwap(customer, { sender: alice, give: "SOL", get: "USDC", amount: "2" });
  await world.deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) + SOL });
  await world.settle(10);
  const shown = await world.service.transaction(customer, body.transactionId);
  const rows = await exported(world.service, customer, world.clock.now());
  expect(missing(shown, rows)).toEqual({});
  expect(kindsOf(rows)).toEqual(["payment SOL", "fee SOL", "excess SOL"]);
  expect(rows[0]).toMatchObject({ outputAsset: "USDC", outputAmount: shown.recipients[0]?.amount });
});

test("Q11: money that came and is under way, or held, has no row", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  const rows = await exported(world.service, world.customer, world.clock.now());
  expect(missing(await world.shown(order), rows)).toEqual({ USDC: order.due });
});
