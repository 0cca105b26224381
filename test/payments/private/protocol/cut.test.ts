/** K3: how an order is cut, and what its outcomes take out. */
// modules: private
import { expect, test } from "vitest";
import {
  cutOf,
  paidMembers,
  placesOf,
  seedOfChunk,
  seedOfRedirect,
  shapeOf,
  takenOut,
} from "../../../../src/payments/private/protocol/cut.ts";
import { payee, SOL_MINT, termsOf, TREASURY, USDC } from "./order.ts";

test.for([
  { mint: SOL_MINT, recipients: 1, cut: [1] },
  { mint: SOL_MINT, recipients: 12, cut: [12] },
  { mint: SOL_MINT, recipients: 13, cut: [12, 1] },
  { mint: SOL_MINT, recipients: 38, cut: [12, 13, 13] },
  { mint: USDC, recipients: 6, cut: [6] },
  { mint: USDC, recipients: 20, cut: [6, 7, 7] },
])("K3: $recipients recipients are cut into $cut", ({ mint, recipients, cut }) => {
  expect(cutOf({ type: "payroll", mint }, recipients)).toEqual(cut);
});

test("K3: 500 recipients are 72 chunks of tokens, or 39 of SOL; a swap is one", () => {
  expect(cutOf({ type: "payroll", mint: USDC }, 500)).toHaveLength(72);
  expect(cutOf({ type: "payroll", mint: SOL_MINT }, 500)).toHaveLength(39);
  expect(cutOf({ type: "swap", mint: USDC }, 1)).toEqual([1]);
  expect(() => cutOf({ type: "send", mint: USDC }, 0)).toThrow(RangeError);
});

test("K3: the fee is member 0 of chunk 0, and recipients follow in stored order", () => {
  const terms = termsOf({ recipients: 8 });
  expect(placesOf(terms, 0)).toHaveLength(7);
  expect(placesOf(terms, 0)[0]).toEqual({ to: TREASURY, amount: 100_000n, member: null });
  expect(
    placesOf(terms, 0)
      .map(({ to }) => to)
      .slice(1),
  ).toEqual([0, 1, 2, 3, 4, 5].map(payee));
  expect(placesOf(terms, 1).map(({ to }) => to)).toEqual([6, 7].map(payee));
  expect(shapeOf(terms, 1)).toEqual({ members: 2, isFirst: false, isOnly: false });
  expect(() => shapeOf(terms, 2)).toThrow("an order of 2 chunks has none numbered 2");
});

test("K3: an outcome takes out what it pays, the fee included; of a swap the input", () => {
  const terms = termsOf({ recipients: 8, amount: 1_000_000n });
  expect(takenOut(terms, 0, { kind: "paid", leftOut: [] })).toBe(6_100_000n);
  expect(takenOut(terms, 0, { kind: "paid", leftOut: [0, 2] })).toBe(5_000_000n);
  expect(takenOut(terms, 0, { kind: "emptyGo" })).toBe(0n);
  expect(takenOut(terms, 1, { kind: "nobody" })).toBe(0n);
  expect(paidMembers(terms, 0, { kind: "paid", leftOut: [0, 2] }).map(({ index }) => index)).toEqual([
    0, 2, 3, 4, 5,
  ]);
  const swap = termsOf({ type: "swap", payMint: SOL_MINT, amount: 20_000_000n, required: 5_000_000n });
  expect(takenOut(swap, 0, { kind: "paid", leftOut: [] })).toBe(5_000_000n);
  expect(takenOut(swap, 0, { kind: "paid", leftOut: [0] })).toBe(4_900_000n);
});

test("K3: seeds are decimal text", () => {
  expect([seedOfChunk(0), seedOfChunk(71), seedOfRedirect(9)]).toEqual(["0", "71", "r9"]);
});
