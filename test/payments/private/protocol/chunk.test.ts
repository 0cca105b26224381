/** K1, K2, K5, K8: the legs of chunks. */
// modules: private
import { describe, expect, test } from "vitest";
import { legsOfChunk } from "../../../../src/payments/private/protocol/chunk.ts";
import { outlayOf } from "../../../../src/payments/private/protocol/cost.ts";
import { SOL, type Leg } from "../../../../src/payments/private/protocol/legs.ts";
import type { Outcome } from "../../../../src/payments/private/protocol/terms.ts";
import {
  DESK,
  FEE,
  LOAN,
  ORDER,
  payee,
  RATE,
  rent,
  SOL_MINT,
  SPONSOR,
  termsOf,
  TREASURY,
  USDC,
  viewOf,
  type Told,
} from "./order.ts";

const ALL: Outcome = { kind: "paid", leftOut: [] };
const view = (told: Told, rentPerByte = RATE) => viewOf({ terms: termsOf(told), shown: [{}], rentPerByte });
const chunk = (told: Told, k: number, outcome: Outcome): readonly Leg[] =>
  legsOfChunk(view(told), { k, outcome, swap: null });
const paid = (legs: readonly Leg[]) =>
  legs.flatMap(({ move, place }) =>
    move.does === "transfer" ? [[place, move.from, move.to, move.amount, move.accountPayer]] : [],
  );

describe("K1: the marker is made by the first move, and nothing closes one", () => {
  test.for([
    [USDC, 0],
    [USDC, 1],
    [SOL_MINT, 0],
    [SOL_MINT, 1],
  ] as const)("K1: of %s, chunk %i", ([mint, k]) => {
    for (const outcome of [ALL, { kind: "nobody" }, { kind: "paid", leftOut: [0] }] satisfies Outcome[]) {
      const legs = chunk({ mint, recipients: 20, amount: 1_000_000n }, k, outcome);
      expect(legs[0]?.move).toMatchObject({ does: "buy", base: ORDER, seed: String(k), payer: SPONSOR });
      expect(legs.slice(1).every(({ move }) => move.does === "transfer")).toBe(true);
    }
  });
});

test("K1: a chunk pays whom its length says, at the sponsor's cost where the quote has priced the account", () => {
  const legs = chunk({ recipients: 8, amount: 7n, isPriced: true }, 0, { kind: "paid", leftOut: [2, 3] });
  expect(legs[0]?.move).toMatchObject({ length: 28, lamports: rent(28) });
  expect(paid(legs)).toEqual([
    [0, ORDER, TREASURY, 100_000n, null],
    ...[1, 4, 5, 6].map((place) => [place, ORDER, payee(place - 1), 7n, SPONSOR]),
  ]);
  const [, ...later] = chunk({ recipients: 8, amount: 7n }, 1, { kind: "paid", leftOut: [1] });
  expect(paid(later)).toEqual([[0, ORDER, payee(6), 7n, ORDER]]);
});

test("K1: the go of an order in SOL lends at the end, also if it pays nobody; the no-go and later chunks do not", () => {
  const told = { mint: SOL_MINT, recipients: 13, amount: 9_000_000n };
  const loan = [null, SPONSOR, ORDER, LOAN, null];
  expect(paid(chunk(told, 0, ALL)).at(-1)).toEqual(loan);
  expect(paid(chunk(told, 0, { kind: "emptyGo" }))).toEqual([loan]);
  expect(chunk(told, 0, { kind: "nobody" })).toHaveLength(1);
  expect(paid(chunk(told, 1, ALL))).toEqual([[0, ORDER, payee(12), 9_000_000n, null]]);
  expect(paid(chunk({ recipients: 8 }, 0, { kind: "emptyGo" }))).toEqual([]);
});

test("K1: a swap gives the desk its input, and the payee the desk's output", () => {
  const told = {
    type: "swap",
    payMint: USDC,
    mint: SOL_MINT,
    fee: 1n,
    required: 50n,
    isPriced: true,
  } as const;
  const swap = { desk: DESK, asset: { mint: USDC, decimals: 6 }, output: 9n };
  const legs = legsOfChunk(view(told), { k: 0, outcome: ALL, swap });
  expect(legs.map(({ role }) => role)).toEqual(["marker", "member", "input", "desk", "loan"]);
  expect(paid(legs).slice(1, 3)).toEqual([
    [null, ORDER, DESK, 49n, null],
    [1, DESK, payee(0), 9n, SPONSOR],
  ]);
  expect(legs[3]?.move).toMatchObject({ mint: USDC, decimals: 6 });
  const sold = legsOfChunk(view({ ...told, mint: USDC, payMint: SOL_MINT }), {
    k: 0,
    outcome: ALL,
    swap: { ...swap, asset: SOL },
  });
  expect(sold[3]?.move).toMatchObject({ mint: null, accountPayer: null });
});

test("K5: the fee alone is never signed in a one-chunk order, and a fee of nothing is not paid", () => {
  expect(() => chunk({}, 0, { kind: "paid", leftOut: [1] })).toThrow(RangeError);
  expect(paid(chunk({ fee: 0n }, 0, ALL))).toHaveLength(1);
});

test("K2: the rent is that of the reading, a lamport at least", () => {
  const [marker] = legsOfChunk(view({}, 2n * RATE), { k: 0, outcome: ALL, swap: null });
  expect(marker?.move).toMatchObject({ lamports: 2n * rent(0) });
  const [free] = legsOfChunk(view({}, 0n), { k: 0, outcome: ALL, swap: null });
  expect(free?.move).toMatchObject({ lamports: 1n });
});

test("K3: the loan is at the order's rate, whatever rent costs now", () => {
  const legs = legsOfChunk(view({ mint: SOL_MINT }, 2n * RATE), { k: 0, outcome: ALL, swap: null });
  expect(paid(legs).at(-1)).toEqual([null, SPONSOR, ORDER, LOAN, null]);
});

test("K8: a chunk that is given up is its marker of length 1, and nothing else", () => {
  const legs = legsOfChunk(view({ recipients: 60 }), { k: 2, outcome: { kind: "nobody" }, swap: null });
  const marker = { does: "buy", base: ORDER, seed: "2", length: 1, payer: SPONSOR, lamports: rent(1) };
  expect(legs.map(({ move }) => move)).toEqual([marker]);
});

test("K16: the sponsor lays out the fee, the marker, priced accounts and the loan", () => {
  const rates = { rentPerByte: RATE, fee: FEE };
  expect(outlayOf(chunk({ isPriced: true }, 0, ALL), SPONSOR, rates)).toBe(FEE + rent(0) + rent(165));
  expect(outlayOf(chunk({}, 0, ALL), SPONSOR, rates)).toBe(FEE + rent(0));
  expect(outlayOf(chunk({ mint: SOL_MINT }, 0, ALL), SPONSOR, rates)).toBe(FEE + rent(0) + LOAN);
});
