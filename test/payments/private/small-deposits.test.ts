/** P15: a thousand deposits of a base unit are some rows and one sum, and large ones have a row each. */
// modules: private
import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/frame/assets/assets.ts";
import { withListed } from "../../../src/payments/private/small-deposits.ts";
import type { DepositRecord } from "../../../src/payments/private/tables.ts";
import { fullRows } from "../../contracts/storage/rows.ts";

const { USDC } = MAINNET_STABLECOINS;
const assets = assetsWith(MAINNET_STABLECOINS);
const ALICE = "alice" as Address;
const BOB = "bob" as Address;

const deposit = (slot: number, amount: bigint, payer: Address | null = ALICE): DepositRecord => {
  const came = { id: `tx:${slot}:${USDC}`, order: "tx", mint: USDC, amount, payer, signature: `at ${slot}` };
  return { ...fullRows.deposits, ...came, slot, account: null, leftAt: null };
};
const crumbs = (first: number, count: number, payer?: Address): readonly DepositRecord[] =>
  Array.from({ length: count }, (_, index) => deposit(first + index, 1n, payer));
const sum = (rows: readonly DepositRecord[]): bigint => rows.reduce((all, { amount }) => all + amount, 0n);

test("P15: a thousand base units are twenty rows and a sum, to the base unit", () => {
  const { deposits, writes } = withListed(assets, [], crumbs(1, 1_000));
  expect([deposits.length, sum(deposits)]).toEqual([21, 1_000n]);
  expect(writes).toHaveLength(21);
  expect(deposits.at(-1)).toMatchObject({ amount: 980n, signature: null, slot: 1_000, payer: ALICE });
});

test("P15: what is listed again is not added again, and what comes later is", () => {
  const before = withListed(assets, [], [...crumbs(1, 100), ...crumbs(90, 11)]).deposits;
  const { deposits, writes } = withListed(assets, before, [...crumbs(1, 100), ...crumbs(101, 5, BOB)]);
  expect([deposits.length, sum(deposits)]).toEqual([21, 105n]);
  expect(writes).toMatchObject([{ id: `tx:small:${USDC}`, set: { amount: 85n, slot: 105, payer: null } }]);
});

test("P9: a deposit of 0.001 or more has its own row, however much dust there is", () => {
  const { deposits } = withListed(assets, [], [...crumbs(1, 50), deposit(51, 1_000n, BOB)]);
  expect(deposits.at(-1)).toMatchObject({ amount: 1_000n, payer: BOB, signature: "at 51" });
  expect(deposits).toHaveLength(22);
});
