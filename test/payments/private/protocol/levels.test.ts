/** K15: levels, shortages and what is missing, by witnesses of any age. */
// modules: private
import { describe, expect, test } from "vitest";
import {
  answersOf,
  judgeLevel,
  type Judgement,
  type LevelEvidence,
} from "../../../../src/payments/private/protocol/levels.ts";
import type { LevelRow } from "../../../../src/payments/private/protocol/rows.ts";
import {
  chunkRow,
  levelRow,
  LOAN,
  RATE,
  rent,
  SOL_MINT,
  termsOf,
  USDC,
  USDT,
  viewOf,
  type Shown,
} from "./order.ts";

/** What endpoints account for at a slot each, in twos unless it is said. */
function judged(
  row: Partial<LevelRow>,
  answers: readonly (readonly [slot: number, amount: bigint])[],
  { listed = null, witnesses = 2 }: Partial<LevelEvidence> = {},
): Judgement | null {
  const told = answers.map(([slot, amount]) => ({ slot, amount }));
  return judgeLevel(levelRow(row), { answers: told, witnesses, listed });
}
const both = (slot: number, amount: bigint) =>
  [
    [slot, amount],
    [slot, amount],
  ] as const;

describe("K15: a level", () => {
  test("K15: rises to what is there and what is out, and keeps what was told before", () => {
    expect(judged({ slot: 90 }, both(100, 8n))).toEqual({
      row: levelRow({ received: 8n, slot: 100 }),
      news: "deposit",
    });
    expect(judged({ received: 8n, out: 5n, slot: 90 }, both(100, 3n))).toBeNull();
    expect(judged({ received: 8n, out: 8n, slot: 90 }, both(100, 3n))?.row.received).toBe(11n);
  });

  test("K15: a deposit is what as many endpoints say at least as must agree", () => {
    expect(
      judged({}, [
        [100, 8n],
        [100, 0n],
      ]),
    ).toBeNull();
    expect(
      judged({}, [
        [100, 13n],
        [100, 8n],
      ])?.row.received,
    ).toBe(8n);
    expect(
      judged({}, [
        [100, 13n],
        [100, 8n],
        [100, 8n],
      ])?.row.received,
    ).toBe(8n);
    expect(
      judged({}, [
        [100, 0n],
        [100, 8n],
        [100, 8n],
      ])?.row.received,
    ).toBe(8n);
  });

  test("K15, C38: a shortage is what so many say at most: one that is behind, or lies high or low, tells none", () => {
    const row = { received: 8n, slot: 90 };
    expect(
      judged(row, [
        [100, 0n],
        [100, 8n],
      ]),
    ).toBeNull();
    expect(
      judged(row, [
        [100, 0n],
        [100, 0n],
        [100, 13n],
      ])?.news,
    ).toBe("short");
    expect(
      judged(row, [
        [100, 0n],
        [100, 8n],
        [100, 8n],
      ]),
    ).toBeNull();
  });

  test("C38: two honest endpoints that are one lamport apart for ever tell one deposit, and never a shortage", () => {
    const apart = (slot: number) =>
      [
        [slot, 9n],
        [slot, 8n],
      ] as const;
    const came = judged({}, apart(100));
    expect(came).toEqual({ row: levelRow({ received: 8n, slot: 100 }), news: "deposit" });
    for (let slot = 101; slot < 200; slot += 1) expect(judged({ ...came?.row }, apart(slot))).toBeNull();
  });

  test("K15: what is short once is remembered, and short again at a later slot missing", () => {
    const once = judged({ received: 8n, slot: 90 }, both(100, 3n));
    expect(once).toEqual({ row: levelRow({ received: 8n, short: true, slot: 100 }), news: "short" });
    expect(judged({ ...once?.row }, both(100, 3n))).toBeNull();
    expect(
      judged({ ...once?.row }, [
        [101, 3n],
        [100, 3n],
      ]),
    ).toBeNull();
    const twice = judged({ ...once?.row }, both(101, 3n));
    expect(twice).toEqual({
      row: levelRow({ received: 8n, short: true, missing: 5n, slot: 101 }),
      news: "missing",
    });
    expect(judged({ ...twice?.row }, both(102, 3n))).toBeNull();
    expect(judged({ ...twice?.row }, both(102, 4n))?.row.missing).toBe(4n);
    expect(judged({ ...twice?.row }, both(102, 8n))).toEqual({
      row: levelRow({ received: 8n, slot: 102 }),
      news: "closes",
    });
  });

  test("R19, K15: no answer counts from before the last booking, level or listed deposit", () => {
    expect(judged({ received: 8n, out: 8n, slot: 110 }, both(109, 8n))).toBeNull();
    expect(
      judged({ received: 8n, slot: 110 }, [
        [120, 3n],
        [109, 3n],
      ]),
    ).toBeNull();
  });

  test("K15: answers are at most 150 slots apart: one that is far ahead stops nothing, and raises no slot", () => {
    expect(
      judged({ slot: 90 }, [
        [9_999, 0n],
        [100, 8n],
        [101, 8n],
      ])?.row,
    ).toEqual(levelRow({ received: 8n, slot: 101 }));
    expect(
      judged({}, [
        [251, 8n],
        [100, 8n],
      ]),
    ).toBeNull();
    expect(
      judged({}, [
        [250, 8n],
        [100, 8n],
      ])?.row.received,
    ).toBe(8n);
  });

  test("K15: deposits that are listed are a floor, also of money that was taken in the same slot", () => {
    const listed = { mint: USDC, sum: 8n, slot: 130 };
    const risen = judged({ slot: 90 }, both(100, 0n), { listed });
    expect(risen).toEqual({ row: levelRow({ received: 8n, slot: 130 }), news: "deposit" });
    expect(judged({ ...risen?.row }, both(100, 0n), { listed })).toBeNull();
    expect(judged({ ...risen?.row }, both(131, 0n), { listed })?.row.short).toBe(true);
    expect(judged({}, both(100, 11n), { listed })?.row).toEqual(levelRow({ received: 11n, slot: 100 }));
  });

  test("K15: what was written off is found again before a level rises, but not by a deposit that is listed", () => {
    const lost = levelRow({ received: 8n, writtenOff: 8n, slot: 100 });
    expect(judged(lost, both(101, 0n))).toBeNull();
    const seen = judged(lost, both(101, 8n));
    expect(seen).toEqual({ row: { ...lost, short: true, slot: 101 }, news: "unlisted" });
    expect(judged({ ...seen?.row }, both(250, 8n))).toEqual({ row: seen?.row, news: "unlisted" });
    expect(judged({ ...seen?.row }, both(251, 8n))?.row).toEqual(levelRow({ received: 8n, slot: 251 }));
    expect(judged({ ...seen?.row }, both(251, 3n))?.row.writtenOff).toBe(5n);
    expect(judged({ ...seen?.row }, both(130, 0n))?.row).toEqual({ ...lost, slot: 130 });
    const listed = { mint: USDC, sum: 11n, slot: 101 };
    for (const row of [lost, { ...lost, short: true }]) {
      expect(judged(row, both(101, 3n), { listed })?.row).toEqual(
        levelRow({ received: 11n, writtenOff: 8n, slot: 101 }),
      );
    }
  });
});

describe("K15: what an endpoint accounts for", () => {
  const of = (shown: Shown, told: Parameters<typeof termsOf>[0] = {}, rows = {}, mint = USDC): bigint =>
    answersOf(viewOf({ terms: termsOf(told), rows, shown: [shown] }), mint)[0]?.amount ?? -1n;

  test("K15: tokens of its associated account, while it is the order's, and what its own markers took out", () => {
    expect(of({ order: { usdc: 8n } })).toBe(8n);
    expect(of({ order: { usdc: { amount: 8n, lamports: 0n, state: "frozen" } } })).toBe(8n);
    expect(of({ order: { usdc: 3n }, markers: { 0: 0 } })).toBe(5_000_003n);
    expect(of({ order: { usdc: 3n }, markers: { 0: 1 } })).toBe(3n);
    expect(of({ order: { usdt: 3n }, markers: { 0: 0 } }, {}, {}, USDT)).toBe(3n);
    expect(of({ order: { usdc: 3n }, markers: { 0: 999 } })).toBe(3n);
  });

  test("K15: marker and balance come from one endpoint: one that is behind still accounts for all", () => {
    const shown = [{ order: { usdc: 0n }, markers: { 0: 0 } }, { order: { usdc: 5_000_000n } }];
    const answers = answersOf(viewOf({ shown, witnesses: 1 }), USDC);
    expect(answers.map(({ amount }) => amount)).toEqual([5_000_000n, 5_000_000n]);
  });

  test("K4: members that no transaction of a foreign marker paid take nothing out", () => {
    const chunks = [chunkRow(0, { length: 0, story: { unpaid: [1], isLent: false } })];
    expect(of({ markers: { 0: 0 } }, {}, { chunks })).toBe(100_000n);
    expect(of({ markers: { 0: 0 } }, {}, { chunks: [chunkRow(0, { length: 0 })] })).toBe(5_000_000n);
  });

  const sol = { mint: SOL_MINT, amount: 5_000_000n } as const;
  test("K15: lamports of the address and of its accounts above their rent, less the loan until it is back", () => {
    const usdc = { amount: 0n, lamports: rent(165) + 7n, state: "usable" as const };
    expect(of({ order: { lamports: 30n, usdc, usdt: 0n } }, sol, {}, SOL_MINT)).toBe(37n);
    const foreign = { ...usdc, state: "foreign" as const };
    expect(of({ order: { lamports: 30n, usdc: foreign } }, sol, {}, SOL_MINT)).toBe(30n);
    const go = { order: { lamports: LOAN }, markers: { 0: 0 } };
    expect(of(go, sol, {}, SOL_MINT)).toBe(5_100_000n);
    expect(of({ markers: { 0: 0 } }, sol, { isLoanBack: true }, SOL_MINT)).toBe(5_100_000n);
    expect(of({ markers: { 0: 0 } }, sol, {}, SOL_MINT)).toBe(5_100_000n - LOAN);
    expect(of({ markers: { 0: 1 } }, sol, {}, SOL_MINT)).toBe(0n);
  });

  test("K3: the rent of its accounts is that of the order's rate, whatever rent costs now", () => {
    const usdc = { amount: 0n, lamports: rent(165) + 7n, state: "usable" as const };
    const shown = [{ order: { lamports: 30n, usdc } }];
    const view = viewOf({ terms: termsOf(sol), shown, rentPerByte: RATE / 2n });
    expect(answersOf(view, SOL_MINT)[0]?.amount).toBe(37n);
  });

  test("K15: a go of another hand lends only if its transactions say so", () => {
    const chunks = [chunkRow(0, { length: 0, story: { unpaid: [0, 1], isLent: false } })];
    expect(of({ markers: { 0: 0 } }, sol, { chunks }, SOL_MINT)).toBe(0n);
    const lent = [chunkRow(0, { length: 0, story: { unpaid: [0, 1], isLent: true } })];
    expect(of({ markers: { 0: 0 } }, sol, { chunks: lent }, SOL_MINT)).toBe(-LOAN);
  });
});
