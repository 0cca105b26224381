/** What quotes ask for, what refunds withhold and what is reserved, to the lamport, at both rates of rent. */
// modules: private
import { describe, expect, test } from "vitest";
import {
  accountRent,
  chargeOf,
  isWithinReserve,
  loanOf,
  quotedCost,
  rateToTake,
  rentBack,
  reservedFor,
  uncovered,
  type CostedOrder,
} from "../../../../src/payments/private/protocol/cost.ts";
import { FEE as fee, SOL_MINT, termsOf, USDC } from "./order.ts";

const DEAR = 6_960n;
const CHEAP = 5_080n;
const order = (rentPerByte: bigint, told: Partial<CostedOrder>): CostedOrder => ({
  type: "send",
  mint: USDC,
  chunks: 1,
  priced: 0,
  rentPerByte,
  fee,
  ...told,
});

describe.for([
  [DEAR, 0],
  [CHEAP, 1],
] as const)("at %i lamports a byte", ([rentPerByte, column]) => {
  test.for([
    ["a send of USDC", {}, [20_000, 20_000]],
    ["a send of SOL", { mint: SOL_MINT }, [910_880, 670_240]],
    ["a swap of tokens", { type: "swap" }, [25_000, 25_000]],
    ["a swap of SOL", { type: "swap", mint: SOL_MINT }, [915_880, 675_240]],
    ["500 payees in tokens", { type: "payroll", chunks: 72 }, [63_982_480, 46_897_040]],
    ["500 payees in SOL", { type: "payroll", mint: SOL_MINT, chunks: 39 }, [35_144_320, 25_759_360]],
  ] as const)("the quote of %s", ([, told, lamports]) => {
    expect(quotedCost(order(rentPerByte, told))).toEqual({ network: BigInt(lamports[column]), rent: 0n });
  });

  const rates = { rentPerByte, fee };
  const account = accountRent(rentPerByte);
  test.for([
    ["SOL refused", SOL_MINT, [1], 0n, 0n, [917_840, 675_320]],
    ["USDC refused, his account there", USDC, [1], 0n, account, [0, 0]],
    ["USDC refused, his account missing", USDC, [1], account, account, [917_840, 675_320]],
    ["the same after dust, his account there", USDC, [1], 0n, 0n, [917_840, 675_320]],
    ["the same after dust, his account missing", USDC, [1], account, 0n, [2_957_120, 2_163_760]],
    ["excess after a go, SOL", SOL_MINT, [0], 0n, 0n, [0, 0]],
    ["excess after a go, USDC, his account there", USDC, [0], 0n, account, [0, 0]],
    ["excess after a go, USDC, his account missing", USDC, [0], account, account, [890_880, 650_240]],
    ["late SOL", SOL_MINT, null, 0n, 0n, [10_000, 10_000]],
    ["late USDC", USDC, null, 0n, account, [0, 0]],
    ["late USDC, his account missing", USDC, null, account, account, [10_000, 10_000]],
    ["SOL, one of 13 left out", SOL_MINT, [15], 0n, 0n, [104_400, 76_200]],
  ] as const)("the refund of %s", ([, mint, lengths, makes, credit, lamports]) => {
    const charge = chargeOf(mint, rates, lengths);
    expect(uncovered(charge + makes, credit)).toBe(BigInt(lamports[column]));
  });
});

test("accounts of payees are the quote's rent", () => {
  expect(quotedCost(order(DEAR, { priced: 3 })).rent).toBe(3n * 2_039_280n);
});

test("500 payees reserve 0.13 SOL of the sponsor in tokens, and 0.07 in SOL", () => {
  expect(reservedFor(order(DEAR, { chunks: 72 }))).toBe(72n * 1_781_760n + 2_039_280n + 73n * 30_000n);
  expect(reservedFor(order(DEAR, { chunks: 39, mint: SOL_MINT }))).toBe(40n * 1_781_760n + 40n * 30_000n);
  expect(reservedFor(order(DEAR, { priced: 2 })) - reservedFor(order(DEAR, {}))).toBe(2n * 2_039_280n);
});

test("an order in SOL lends twice the rent of nothing at its rate, one in tokens nothing", () => {
  expect(loanOf(termsOf({ mint: SOL_MINT }))).toBe(1_781_760n);
  expect(loanOf(termsOf())).toBe(0n);
});

test("an account that closes gives the sponsor its rent at the order's rate, never more than lies on it", () => {
  expect(rentBack(termsOf(), 9_000_000n)).toBe(2_039_280n);
  expect(rentBack(termsOf(), 2_000_000n)).toBe(2_000_000n);
});

test("K2: above twice the rate that was taken no marker is bought, until a person takes another", () => {
  const terms = termsOf();
  const [twice, more] = [2n * DEAR, 2n * DEAR + 1n];
  expect([twice, more].map((rate) => isWithinReserve(terms, rate, 0))).toEqual([true, false]);
  expect([twice, more].map((rate) => rateToTake(terms, rate, [0]))).toEqual([DEAR, more]);
  expect(isWithinReserve({ ...terms, rentTaken: more }, more, 128)).toBe(true);
});

test("C21: a marker longer than the reserve is bought once a person has taken the rate that it needs", () => {
  const terms = termsOf({ mint: SOL_MINT });
  expect(rateToTake(terms, DEAR, [128])).toBe(DEAR);
  for (const length of [129, 300, 8_000]) {
    const rentTaken = rateToTake(terms, DEAR, [3, length]);
    expect(isWithinReserve({ ...terms, rentTaken }, DEAR, length)).toBe(true);
    expect(isWithinReserve({ ...terms, rentTaken: rentTaken - 1n }, DEAR, length)).toBe(false);
  }
});

test("K16: 128 bytes a chunk are reserved: at the order's rate every length of tokens, at twice that length 0", () => {
  const terms = termsOf();
  expect([128, 129].map((length) => isWithinReserve(terms, DEAR, length))).toEqual([true, false]);
  expect([0, 1].map((length) => isWithinReserve(terms, 2n * DEAR, length))).toEqual([true, false]);
});
