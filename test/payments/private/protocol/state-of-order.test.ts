/** K4, K9, K10, K14, K15, K17: the facts of a reading, and what the chart is told of them. */
// modules: private
import { describe, expect, test } from "vitest";
import { standingOf } from "../../../../src/payments/private/acts/standing.ts";
import type { ChosenTransfer } from "../../../../src/payments/private/chosen-transfer.ts";
import { isPurseFull } from "../../../../src/payments/private/full-purse.ts";
import type { OrderLook } from "../../../../src/payments/private/look.ts";
import type { TransferInHand } from "../../../../src/payments/private/transfer-in-hand.ts";
import { paidIn, receivedIn, type OrderFacts } from "../../../../src/payments/private/protocol/facts.ts";
import { nextOf } from "../../../../src/payments/private/protocol/next-of.ts";
import { barTo, restsOf, type Signing } from "../../../../src/payments/private/protocol/rests.ts";
import type { ActRow, OrderState } from "../../../../src/payments/private/protocol/rows.ts";
import { stateOfOrder } from "../../../../src/payments/private/protocol/state-of-order.ts";
import {
  chunkRow,
  FEE,
  levelRow,
  LOAN,
  OTHER,
  rent,
  SENDER,
  SOL_MINT,
  SPONSOR,
  termsOf,
  USDC,
  USDT,
  viewOf,
  type Seen,
  type Shown,
} from "./order.ts";

const facts = (seen: Seen): OrderFacts => stateOfOrder(viewOf(seen));
/** What the chart is told in a state. */
const told = (state: OrderState, seen: Seen) => {
  const view = viewOf(seen);
  return nextOf(state, stateOfOrder(view), view);
};
const wallets = { [SENDER]: { lamports: 9_000_000n, usdc: 0n } };
const PAID: Shown = { order: { usdc: 5_000_000n }, wallets };
const seen = (row: { length: number; slot?: number; wanted?: number; isMissed?: boolean }, k = 0) =>
  chunkRow(k, { slot: 100, wanted: row.length, ...row });
const payroll = termsOf({ recipients: 8, amount: 1_000_000n });

describe("markers", () => {
  test("K4: chunk 0's marker is a go with any length but 1, and all is decided when each chunk's stands", () => {
    const of = (markers: Shown["markers"]) => {
      const said = facts({ terms: payroll, shown: [{ markers: markers ?? {} }] });
      return [said.decision, said.isDecided, said.isUnclear, paidIn(payroll, said).length];
    };
    expect(of({})).toEqual(["open", false, false, 0]);
    expect(of({ 0: 1 })).toEqual(["no_go", true, false, 0]);
    expect(of({ 0: 2 })).toEqual(["go", false, false, 0]);
    expect(of({ 0: 0, 1: 1 })).toEqual(["go", true, false, 6]);
    expect(of({ 0: 4, 1: 0 })).toEqual(["go", true, false, 7]);
  });

  test("K4: an unknown length is a go that is said to have paid nobody; an unknown owner stops everything", () => {
    const odd = facts({ terms: payroll, shown: [{ markers: { 0: 999, 1: 0 } }] });
    expect([odd.decision, odd.chunks[0]?.outcome, paidIn(payroll, odd).length]).toEqual(["go", null, 2]);
    expect(facts({ shown: [{ markers: { 0: "foreign" } }] })).toMatchObject({
      decision: "open",
      isUnclear: true,
    });
  });

  test("K10: markers that witnesses differ about decide nothing, and nothing else is concluded", () => {
    const differ = { shown: [PAID, { ...PAID, markers: { 0: 0 } }] };
    expect(facts(differ)).toMatchObject({
      decision: "open",
      isUnclear: true,
      isFunded: false,
      worth: null,
    });
    expect(told("waiting", differ)).toBeNull();
  });

  test.for([
    "waiting",
    "deciding",
    "paying",
    "refusing",
    "over.idle",
    "over.refusing",
    "over.paying",
    "over.resting",
  ] as const)("K17: in %s a marker comes before all else", (state) => {
    const shown = [{ ...PAID, blockTime: 2_000, markers: { 0: 1 } }];
    expect(told(state, { shown })).toEqual({ type: "NO_GO" });
    expect(told(state, { shown: [{ ...PAID, markers: { 0: 0 } }] })).toEqual({ type: "GO" });
  });

  test("K17: chunk 0's comes before all else though a later one is disputed", () => {
    const shown: readonly Shown[] = [{ markers: { 0: 0, 1: 0 } }, { markers: { 0: 0 } }];
    expect(facts({ terms: payroll, shown }).isUnclear).toBe(true);
    expect(told("waiting", { terms: payroll, shown })).toEqual({ type: "GO" });
  });

  test("K17: chunk 0's comes before a later one's, which alone says nothing", () => {
    const chunks = [chunkRow(0), chunkRow(1)];
    const both = [{ markers: { 0: 0, 1: 0 } }];
    expect(told("waiting", { terms: payroll, shown: both, rows: { chunks } })).toMatchObject({ type: "GO" });
    const after = { chunks: [seen({ length: 0 }), chunkRow(1)] };
    expect(told("paying", { terms: payroll, shown: both, rows: after })).toEqual({ type: "MARKS" });
    expect(told("waiting", { terms: payroll, shown: [{ markers: { 1: 0 } }] })).toBeNull();
  });
});

describe("K14: a marker that a row has and the chain has not", () => {
  const rows = { chunks: [seen({ length: 0 })] };
  test.for([
    ["a go's", termsOf(), rows.chunks, {}, 0],
    ["a no-go's", termsOf(), [seen({ length: 1 })], {}, 0],
    ["a later chunk's", payroll, [...rows.chunks, seen({ length: 0 }, 1)], { 0: 0 }, 1],
  ] as const)(
    "K14, C41: the first reading without %s marker, and with the money, concludes nothing and gives nothing back; a second one says that it is gone",
    ([, terms, chunks, markers, k]) => {
      const first = { terms, shown: [{ ...PAID, slot: 101, markers }], rows: { chunks } };
      expect(facts(first)).toMatchObject({ isUnclear: true });
      expect(facts(first).chunks[k]).toMatchObject({ isMissed: true, isGone: false });
      expect(facts(first).levels.every(({ judgement }) => judgement === null)).toBe(true);
      const states = ["over.idle", "over.resting", "waiting"] as const;
      expect(states.map((state) => told(state, first))).toEqual([null, null, null]);
      const view = viewOf(first);
      for (const kind of ["rest", "redirect"] as const) {
        expect(barTo({ kind }, stateOfOrder(view), view)).toBe("unclear");
      }
      const missed = chunks.map((row) => (row.k === k ? { ...row, slot: 101, isMissed: true } : row));
      const second = { terms, shown: [{ ...PAID, slot: 102, markers }], rows: { chunks: missed } };
      expect(told("over.resting", second)).toMatchObject({ type: "GONE", chunk: k });
    },
  );

  test("K14: so many endpoints at a later slot have not it, either: gone; not those that are behind", () => {
    const missed = { chunks: [seen({ length: 0, slot: 101, isMissed: true })] };
    const later = { shown: [{ ...PAID, slot: 102 }], rows: missed };
    expect(told("over.resting", later)).toEqual({ type: "GONE", chunk: 0, isNobodyWanted: false });
    expect(told("over.resting", { shown: [{ slot: 102 }, { slot: 101 }], rows: missed })).toBeNull();
    expect(
      told("over.resting", { shown: [{ slot: 102, markers: { 0: 0 } }], rows: missed }),
    ).not.toMatchObject({ type: "GONE" });
  });

  test("K14: nodes behind the slot at which it was seen do not miss it; those of an hour before do, since that slot was a lie", () => {
    for (const [slot, isMissedLater] of [
      [10_001, true],
      [10_000, false],
      [1_000, false],
      [999, true],
    ] as const) {
      const at = { shown: [{ ...PAID, slot }], rows: { chunks: [seen({ length: 0, slot: 10_000 })] } };
      expect(facts(at)).toMatchObject({ isUnclear: true, chunks: [{ isMissed: true, isMissedLater }] });
    }
  });

  test("K14: a later chunk's is gone only while the go stands", () => {
    const chunks = [seen({ length: 0 }), seen({ length: 0, slot: 101, isMissed: true }, 1)];
    const of = (markers: Record<string, number>) =>
      told("over.resting", { terms: payroll, shown: [{ slot: 102, markers }], rows: { chunks } });
    expect(of({ 0: 0 })).toEqual({ type: "GONE", chunk: 1, isNobodyWanted: false });
    expect(of({})).toBeNull();
  });

  test("K14: with chunk 0's, a later chunk's that is gone keeps nobody from deciding anew", () => {
    const chunks = [chunkRow(0), seen({ length: 0, slot: 101, isMissed: true }, 1)];
    const view = viewOf({ terms: payroll, shown: [{ ...PAID, slot: 102 }], rows: { chunks } });
    const said = stateOfOrder(view);
    expect(barTo({ kind: "chunk", k: 0, isNobody: false }, said, view)).toBeNull();
    expect(barTo({ kind: "chunk", k: 0, isNobody: true }, said, view)).toBeNull();
    const refused = { terms: payroll, shown: [{ ...PAID, slot: 102, markers: { 0: 1 } }] };
    const rested = viewOf({ ...refused, rows: { chunks: [seen({ length: 1 }), chunks[1] ?? chunkRow(1)] } });
    expect(stateOfOrder(rested)).toMatchObject({ isUnclear: false, worth: "worth" });
  });

  test("K14: another length is missed, too", () => {
    expect(facts({ shown: [{ slot: 101, markers: { 0: 1 } }], rows })).toMatchObject({
      chunks: [{ isMissed: true }],
    });
  });

  test.for([
    [{ length: 1, wanted: 0 }, true],
    [{ length: 0, wanted: 1 }, true],
    [{ length: 0 }, false],
  ] as const)("K14: gone as %o, is nobody to be paid: %o", ([row, isNobodyWanted]) => {
    const chunks = [seen({ ...row, slot: 101, isMissed: true })];
    expect(told("over.idle", { shown: [{ slot: 102 }], rows: { chunks } })).toEqual({
      type: "GONE",
      chunk: 0,
      isNobodyWanted,
    });
  });
});

describe("waiting", () => {
  test("K10: funded is what so many endpoints show at the address, and its level, say at least", () => {
    expect(told("waiting", { shown: [PAID] })).toEqual({ type: "FUNDED" });
    expect(told("waiting", { shown: [PAID, {}] })).toBeNull();
    expect(told("waiting", { shown: [PAID, PAID, {}] })).toEqual({ type: "FUNDED" });
    expect(told("waiting", { shown: [{ ...PAID, order: { usdc: 4_999_999n } }] })).toBeNull();
    const levels = [levelRow({ received: 5_000_000n })];
    expect(told("waiting", { shown: [{ order: { usdc: 0n } }], rows: { levels } })).toBeNull();
    expect(told("waiting", { shown: [PAID, { order: { usdc: 0n } }], rows: { levels } })).toBeNull();
  });

  test("K15: no answer from before what was written last funds it", () => {
    const levels = [levelRow({ received: 5_000_000n, slot: 101 })];
    expect(told("waiting", { shown: [{ ...PAID, slot: 100 }], rows: { levels } })).toBeNull();
    expect(told("waiting", { shown: [{ ...PAID, slot: 101 }], rows: { levels } })).toEqual({
      type: "FUNDED",
    });
  });

  test("C35: a part of a SOL deposit that lies on the address's token account does not fund it", () => {
    const terms = termsOf({ mint: SOL_MINT, amount: 9_000_000n, fee: 1_000_000n });
    const usdc = { amount: 0n, lamports: rent(165) + 4_000_000n, state: "usable" } as const;
    expect(told("waiting", { terms, shown: [{ order: { lamports: 6_000_000n, usdc } }] })).toBeNull();
    expect(told("waiting", { terms, shown: [{ order: { lamports: 10_000_000n, usdc } }] })).toEqual({
      type: "FUNDED",
    });
  });

  const over = (shown: readonly Shown[], more: Partial<Seen> = {}) =>
    told("waiting", { shown: shown.map((each) => ({ blockTime: 1_001, wallets, ...each })), ...more });
  const LITTLE = { order: { usdc: 2_000_000n } };

  test.for([
    ["nothing came", {}, {}, false, "DEPOSIT_TIMEOUT"],
    ["it is worth its cost", LITTLE, {}, true, "INCOMPLETE_DEPOSIT"],
    [
      "it is not",
      { ...LITTLE, wallets: {} },
      { lamportsAUnit: 1n / 1n, terms: termsOf({ rentPerByte: 1n }) },
      false,
      "INCOMPLETE_DEPOSIT",
    ],
    ["there is no price", { ...LITTLE, wallets: {} }, { lamportsAUnit: null }, true, "INCOMPLETE_DEPOSIT"],
    [
      "there is no price for dust",
      { order: { usdc: 999n }, wallets: {} },
      { lamportsAUnit: null },
      false,
      "INCOMPLETE_DEPOSIT",
    ],
  ] as const)("K16: the window is over: %s", ([, shown, more, isRefused, reason]) => {
    expect(over([shown], more)).toEqual({ type: "WINDOW_OVER", isRefused, reason });
  });

  test("K17: the window is over by block time, and where so many endpoints lead to one row", () => {
    expect(over([{ ...LITTLE, blockTime: 1_000 }])).toBeNull();
    expect(over([LITTLE, {}])).toBeNull();
    expect(over([LITTLE, { ...LITTLE, blockTime: 1_000 }])).toBeNull();
    expect(over([LITTLE, LITTLE, {}])).toMatchObject({ isRefused: true });
    expect(over([{}, {}, PAID])).toMatchObject({ isRefused: false });
    expect(over([PAID, PAID, {}])).toEqual({ type: "FUNDED" });
    expect(over([LITTLE, LITTLE, {}, {}])).toBeNull();
    const before = { ...PAID, blockTime: 1_000 };
    expect(over([before, before, {}, {}])).toEqual({ type: "FUNDED" });
    const levels = [levelRow({ short: true, slot: 100 })];
    expect(over([PAID], { rows: { levels } })).toBeNull();
  });

  test("M20: dust below its cost that one endpoint alone shows keeps no window open", () => {
    const poor = { wallets: {} };
    expect(over([{ order: { usdc: 999n }, ...poor }, poor])).toEqual({
      type: "WINDOW_OVER",
      isRefused: false,
      reason: "DEPOSIT_TIMEOUT",
    });
  });

  test("M20, C43: money that endpoints past the window show alike ends the wait, and is disputed otherwise", () => {
    const afterWindow = (...shown: readonly Shown[]) =>
      facts({ shown: shown.map((each) => ({ blockTime: 1_001, wallets, ...each })) }).afterWindow;
    expect(afterWindow(PAID, {})).toBe("disputed");
    expect(afterWindow(PAID, LITTLE)).toBe("disputed");
    expect(afterWindow(LITTLE, {})).toBe("disputed");
    expect(afterWindow(PAID, { blockTime: 1_000 })).toBeNull();
    expect(afterWindow(PAID, PAID, {})).toBe("funded");
  });

  test("an order is untouched while no endpoint shows a marker, or 0.001 of its asset, frozen or not", () => {
    const untouched = (shown: readonly Shown[], rows = {}) => facts({ shown, rows }).isUntouched;
    expect(untouched([{ order: { usdc: 999n, usdt: 5_000n } }])).toBe(true);
    expect(untouched([{}, { order: { usdc: 1_000n } }])).toBe(false);
    expect(untouched([{ order: { usdc: { amount: 1_000n, lamports: 0n, state: "frozen" } } }])).toBe(false);
    expect(untouched([{}, { markers: { r0: 0 } }])).toBe(false);
    expect(untouched([{ slot: 100 }], { levels: [levelRow({ received: 1_000n, slot: 120 })] })).toBe(false);
  });
});

describe("later", () => {
  test("K17: decided when the last marker is final, by whom the markers paid", () => {
    const chunks = [seen({ length: 0 }), seen({ length: 0 }, 1)];
    const of = (markers: Record<string, number>, rows = chunks) =>
      told("paying", {
        terms: payroll,
        shown: [{ markers }],
        rows: { chunks: rows.map((row) => ({ ...row, length: markers[row.k] ?? null })) },
      });
    expect(of({ 0: 0, 1: 0 })).toEqual({ type: "DECIDED", paid: "all" });
    expect(of({ 0: 3, 1: 0 })).toEqual({ type: "DECIDED", paid: "all" });
    expect(of({ 0: 4, 1: 0 })).toEqual({ type: "DECIDED", paid: "some" });
    expect(of({ 0: 2, 1: 1 })).toEqual({ type: "DECIDED", paid: "none" });
    expect(of({ 0: 0 })).toBeNull();
    expect(of({ 0: 0, 1: 0 }, [chunkRow(0, { story: "awaited" }), chunkRow(1)])).toBeNull();
    const story = { unpaid: [1], isLent: false };
    expect(of({ 0: 0, 1: 0 }, [chunkRow(0, { story }), chunkRow(1)])).toEqual({
      type: "DECIDED",
      paid: "some",
    });
  });

  test("C24, K17: of a recovered order, whose recipients nobody knows, all are paid only where each marker says so", () => {
    const terms = { ...payroll, members: [] };
    const of = (markers: Record<string, number>) =>
      told("paying", {
        terms,
        shown: [{ markers }],
        rows: { chunks: [0, 1].map((k) => chunkRow(k, { length: markers[k] ?? null })) },
      });
    expect(of({ 0: 0, 1: 0 })).toEqual({ type: "DECIDED", paid: "all" });
    // A gap that was given up has paid nobody.
    expect(of({ 0: 0, 1: 1 })).toEqual({ type: "DECIDED", paid: "some" });
  });

  test("K17: refusing ends undecided only when every go is dead", () => {
    const of = (isGoDead: boolean, shown: Shown = {}) =>
      told("refusing", { shown: [shown], rows: { isGoDead } });
    expect(of(true)).toEqual({ type: "BELOW_COST" });
    expect(of(true, { order: { lamports: 5n } })).toEqual({ type: "BELOW_COST" });
    expect(of(false)).toBeNull();
    expect(of(true, PAID)).toBeNull();
  });

  test("late money that is worth its cost, or frozen, is to be returned, at the word of so many endpoints", () => {
    expect(told("over.idle", { shown: [PAID] })).toEqual({ type: "LATE" });
    expect(told("over.idle", { shown: [PAID, {}] })).toBeNull();
    expect(told("over.idle", { shown: [{ order: { lamports: FEE } }] })).toBeNull();
    const decided = {
      rows: { chunks: [seen({ length: 0 })], transfers: [{ kind: "rest", state: "done" }] },
    } as const;
    expect(told("over.idle", { shown: [{ markers: { 0: 0 }, order: { usdc: 0n } }], ...decided })).toEqual({
      type: "LATE",
    });
    expect(told("over.idle", { shown: [{ markers: { 0: 0 } }], ...decided })).toBeNull();
    const frozen = { usdc: { amount: 5_000_000n, lamports: rent(165), state: "frozen" } } as const;
    expect(told("over.idle", { shown: [{ markers: { 0: 0 }, order: frozen }], ...decided })).toEqual({
      type: "LATE",
    });
  });

  test("a rest is at its end when nothing is there, or nothing that is worth its cost; frozen money is held", () => {
    const rows = { chunks: [seen({ length: 1 })] };
    const of = (order: Shown["order"]) =>
      told("over.resting", { shown: [{ markers: { 0: 1 }, order: order ?? {} }], rows });
    expect(of({})).toEqual({ type: "EMPTY" });
    expect(of({ lamports: 5n })).toEqual({ type: "BELOW_COST" });
    expect(of({ usdc: 0n })).toBeNull();
    expect(of({ usdc: { amount: 5n, lamports: 1n, state: "frozen" } })).toBeNull();
  });
});

describe("K15: levels of an order", () => {
  test("K15: nothing is judged while a rest, redirect or collect is out, a marker is new, or its story awaited", () => {
    const judged = (rows: Seen["rows"], markers = {}) =>
      facts({ shown: [{ ...PAID, markers }], rows: rows ?? {} }).levels.some(
        ({ judgement }) => judgement !== null,
      );
    expect(judged({})).toBe(true);
    for (const kind of ["rest", "redirect", "collect"] as const) {
      expect(judged({ transfers: [{ kind, state: "out" }] })).toBe(false);
      expect(judged({ transfers: [{ kind, state: "done" }] })).toBe(true);
    }
    expect(judged({ transfers: [{ kind: "chunk", state: "out" }] })).toBe(true);
    expect(judged({}, { 0: 0 })).toBe(false);
    expect(judged({ chunks: [seen({ length: 0 })] }, { 0: 0 })).toBe(true);
    expect(judged({ chunks: [chunkRow(0, { length: 0, story: "awaited" })] }, { 0: 0 })).toBe(false);
  });

  test("K15: nothing is judged while the marker of an open act stands, which another copy has carried out", () => {
    const judged = (state: ActRow["state"], marker: number | null) =>
      facts({
        shown: [{ ...PAID, markers: { r1: marker } }],
        rows: { acts: [{ n: 1, mint: USDC, sum: 5n, to: OTHER, state }] },
      }).levels.some(({ judgement }) => judgement !== null);
    expect([judged("open", null), judged("open", 0), judged("done", 0)]).toEqual([true, false, true]);
  });

  test("K15: each asset of the look has its level, SOL first", () => {
    const levels = facts({ shown: [{ order: { lamports: 3n, usdc: 2n, usdt: 1n } }] }).levels;
    expect(levels.map(({ judgement }) => [judgement?.row.mint, judgement?.row.received])).toEqual([
      [SOL_MINT, 3n],
      [USDC, 2n],
      [USDT, 1n],
    ]);
  });

  test("K15, C48: of three endpoints each may be at another slot: no deposit, shortage or theft that never was", () => {
    const life: readonly Shown[] = [
      { slot: 100 },
      { slot: 110, order: { usdc: 9_100_000n } },
      { slot: 120, order: { usdc: 3_000_000n }, markers: { 0: 0 } },
      { slot: 130, order: { usdc: 1_000_000n }, markers: { 0: 0, 1: 0 } },
      { slot: 140, order: { usdc: 0n }, markers: { 0: 0, 1: 0 } },
      { slot: 150, order: { usdc: 500_000n }, markers: { 0: 0, 1: 0 } },
    ];
    const came = [0n, 9_100_000n, 9_100_000n, 9_100_000n, 9_100_000n, 9_600_000n];
    // What rows know of it, and the slot of what was written last: of the rest its landing.
    const known = [
      { at: 0, received: 0n, out: 0n, slot: 100, markers: 0 },
      { at: 1, received: 9_100_000n, out: 0n, slot: 110, markers: 0 },
      { at: 2, received: 9_100_000n, out: 0n, slot: 110, markers: 1 },
      { at: 4, received: 9_100_000n, out: 1_000_000n, slot: 140, markers: 2 },
      { at: 5, received: 9_600_000n, out: 1_000_000n, slot: 150, markers: 2 },
    ];
    const moments = [...life.keys()];
    const looks = moments.flatMap((one) =>
      moments.flatMap((two) => moments.map((three) => [one, two, three] as const)),
    );
    const judged = known.flatMap(({ at, received, out, slot, markers }) => {
      const rows = {
        chunks: [0, 1].map((k) => chunkRow(k, k < markers ? { length: 0, slot: 120 + 10 * k } : {})),
        levels: [levelRow({ received, out, slot })],
      };
      return looks.flatMap((look) => {
        const shown = look.map((moment) => life[moment] ?? {});
        const { levels } = facts({ terms: payroll, rows, shown });
        const judgement = levels.find(({ row }) => row.mint === USDC)?.judgement ?? null;
        const most = came[Math.max(at, ...look)] ?? 0n;
        const isTrue = judgement?.news === "deposit" && judgement.row.received <= most;
        return judgement === null ? [] : [{ at, look, isTrue, news: judgement.news }];
      });
    });
    expect(judged.filter(({ isTrue }) => !isTrue)).toEqual([]);
    expect(judged.length).toBeGreaterThan(0);
  });

  const sol = termsOf({ mint: SOL_MINT, amount: 9_000_000n });
  const go = { terms: sol, shown: [{ markers: { 0: 0 } }] };
  const chunks = [seen({ length: 0 })];
  test("K15: without history the loan is back when all is decided and nothing is there; with it only by a transaction", () => {
    expect(facts({ ...go, rows: { chunks, listed: null } })).toMatchObject({
      isLoanFoundBack: true,
      loan: 0n,
    });
    expect(facts({ ...go, rows: { chunks } })).toMatchObject({ isLoanFoundBack: false, loan: LOAN });
    const back = facts({ ...go, rows: { chunks, isLoanBack: true } });
    expect([back.loan, receivedIn(back.levels, SOL_MINT)]).toEqual([0n, 9_100_000n]);
    expect(receivedIn(facts({ ...go, rows: { chunks } }).levels, SOL_MINT)).toBe(9_100_000n - LOAN);
    const there = [{ markers: { 0: 0 }, order: { lamports: 1n } }];
    expect(facts({ ...go, shown: there, rows: { chunks, listed: null } }).loan).toBe(LOAN);
    expect(
      facts({ terms: sol, shown: [{ markers: { 0: 1 } }], rows: { chunks: [seen({ length: 1 })] } }).loan,
    ).toBe(0n);
  });

  test("K15: a theft of the loan is missing", () => {
    const levels = [levelRow({ mint: SOL_MINT, received: 9_100_000n, short: true, slot: 99 })];
    const [judged] = facts({ ...go, rows: { chunks, levels } }).levels;
    expect(judged?.judgement).toMatchObject({ news: "missing", row: { missing: LOAN } });
  });
});

describe("what may be signed", () => {
  const bar = (signing: Signing, one: Seen) => {
    const view = viewOf(one);
    return barTo(signing, stateOfOrder(view), view);
  };
  const open = { terms: payroll, shown: [{}] };
  const noGo = { shown: [{ markers: { 0: 1 } }], rows: { chunks: [seen({ length: 1 })] } };
  const hold = { holds: [{ reason: "payer" }] };

  test("K6, C7: a later chunk is signed only after chunk 0's go, and never after its no-go", () => {
    expect(bar({ kind: "chunk", k: 1, isNobody: false }, open)).toBe("undecided");
    expect(
      bar({ kind: "chunk", k: 1, isNobody: false }, { terms: payroll, shown: [{ markers: { 0: 1 } }] }),
    ).toBe("undecided");
    expect(
      bar({ kind: "chunk", k: 1, isNobody: false }, { terms: payroll, shown: [{ markers: { 0: 2 } }] }),
    ).toBeNull();
    expect(
      bar({ kind: "chunk", k: 1, isNobody: false }, { terms: payroll, shown: [{ markers: { 0: 2 } }, {}] }),
    ).toBe("unclear");
  });

  test.for(["rest", "redirect"] as const)("K7: a %s is signed only when all is decided", (kind) => {
    expect(bar({ kind }, open)).toBe("undecided");
    expect(bar({ kind }, { terms: payroll, shown: [{ markers: { 0: 0 } }] })).toBe("undecided");
    expect(bar({ kind }, { terms: payroll, shown: [{ markers: { 0: 0, 1: 1 } }] })).toBeNull();
    expect(bar({ kind }, noGo)).toBeNull();
  });

  test.for(["collect", "foreign"] as const)(
    "a %s takes nothing of the order, and waits for no decision",
    (kind) => {
      expect(bar({ kind }, open)).toBeNull();
    },
  );

  test("K14: one rest, redirect or collect is out at a time", () => {
    const out = { ...noGo.rows, transfers: [{ kind: "redirect", state: "out" }] } as const;
    expect(bar({ kind: "rest" }, { ...noGo, rows: out })).toBe("another_out");
    expect(bar({ kind: "redirect" }, { ...noGo, rows: out })).toBe("another_out");
  });

  test("K16: no no-go is bought for what is not worth its cost, or may not be; endpoints that differ keep none", () => {
    const noGoOf = (one: Seen) => bar({ kind: "chunk", k: 0, isNobody: true }, one);
    const shown = (...usdc: readonly bigint[]) => usdc.map((each) => ({ order: { usdc: each } }));
    const sol = termsOf({ mint: SOL_MINT, amount: 9_000_000n });
    expect(noGoOf({ shown: shown(5_000_000n) })).toBeNull();
    expect(noGoOf({ shown: [{}] })).toBe("not_worth");
    expect(noGoOf({ terms: sol, shown: [{ order: { lamports: 900_000n } }] })).toBe("not_worth");
    expect(noGoOf({ shown: shown(5_000_000n), lamportsAUnit: null })).toBe("waiting_for_price");
    expect(noGoOf({ shown: [{}, ...shown(5_000_000n)] })).toBeNull();
  });

  test("a hold stops a go, a rest and a collect; no hold stops a no-go, a later chunk or a redirect", () => {
    const held = { ...noGo, rows: { ...noGo.rows, ...hold } };
    const heldOpen = { ...open, shown: [{ order: { usdc: 5_000_000n } }], rows: hold };
    expect(bar({ kind: "chunk", k: 0, isNobody: false }, heldOpen)).toBe("hold");
    expect(bar({ kind: "chunk", k: 0, isNobody: true }, heldOpen)).toBeNull();
    expect(
      bar(
        { kind: "chunk", k: 1, isNobody: false },
        { terms: payroll, shown: [{ markers: { 0: 0 } }], rows: hold },
      ),
    ).toBeNull();
    expect((["rest", "collect", "redirect"] as const).map((kind) => bar({ kind }, held))).toEqual([
      "hold",
      "hold",
      null,
    ]);
  });

  test("K12: while an act is open no rest of its mint is signed", () => {
    const act = { n: 0, mint: USDC, sum: 1n, to: OTHER, state: "open" } as const;
    const rests = (mint = USDC, state: "open" | "done" = "open") => {
      const view = viewOf({
        shown: [{ markers: { 0: 1 }, order: { usdc: 9_000_000n, usdt: 9_000_000n }, wallets }],
        rows: { chunks: [seen({ length: 1 })], acts: [{ ...act, mint, state }] },
      });
      const [first] = view.look.reading.told;
      if (first === undefined) throw new Error("nothing is shown");
      const plans = restsOf(view, stateOfOrder(view), { told: first, way: "asserted" });
      return plans.map((plan) => (plan.kind === "rest" ? plan.token?.mint : plan.kind));
    };
    expect(rests(USDC, "done")).toEqual([USDC, USDT, "nothing"]);
    expect(rests()).toEqual([USDT, "nothing"]);
    expect(rests(USDT)).toEqual([USDC, "nothing"]);
    expect(rests(SOL_MINT)).toEqual([]);
  });

  test("K16: the first rest after a no-go is charged with it, one after a go with what it cost more, a later one with its fee", () => {
    const sol = { terms: termsOf({ mint: SOL_MINT, recipients: 3, amount: 9_000_000n }) };
    const cost = (length: number, rows = {}) => {
      const view = viewOf({
        ...sol,
        shown: [
          {
            markers: { 0: length },
            order: { lamports: 90_000_000n },
            wallets: { [SENDER]: { lamports: rent(0) } },
          },
        ],
        rows: { chunks: [seen({ length })], isLoanBack: true, ...rows },
      });
      const [first] = view.look.reading.told;
      if (first === undefined) throw new Error("nothing is shown");
      const [plan] = restsOf(view, stateOfOrder(view), { told: first, way: "asserted" });
      return plan?.kind === "rest" ? plan.lamports.toSponsor : plan?.kind;
    };
    expect(cost(1)).toBe(rent(1) + 2n * FEE);
    expect(cost(0, { uncharged: FEE })).toBe(FEE);
    expect(cost(4)).toBe(rent(4) - rent(0));
    expect(cost(4, { transfers: [{ kind: "rest", state: "done" }] })).toBe(FEE);
    expect(SPONSOR).not.toBe(SENDER);
  });
});

describe("K10: by how many endpoints", () => {
  test("K10: the purse covers what so many say at least, its own transaction and what other chunks have reserved", () => {
    const chosen = { legs: [], booked: [{}] } as unknown as ChosenTransfer;
    const isFull = (lamports: readonly bigint[], by: "payment" | "nobody" | "rest" = "payment"): boolean => {
      const shown = lamports.map((each) => ({ wallets: { [SPONSOR]: { lamports: each } } }));
      const judged = viewOf({ terms: payroll, shown });
      const look = { terms: payroll, judged, reading: judged.look.reading, facts: stateOfOrder(judged) };
      const row = { kind: by === "rest" ? "rest" : "chunk", n: 0 };
      const inHand = { row, look } as unknown as TransferInHand;
      return isPurseFull(inHand, by === "nobody" ? { ...chosen, booked: [] } : chosen);
    };
    // What is left of two chunks: one with its three attempts and those of a rest, and an account.
    const most = FEE + rent(128) + rent(165) + 6n * FEE;
    expect([isFull([most, most]), isFull([most, most - 1n])]).toEqual([true, false]);
    expect([isFull([most, most, 0n]), isFull([most - 1n, most, most - 1n])]).toEqual([true, false]);
    for (const by of ["nobody", "rest"] as const) {
      expect([isFull([FEE, FEE], by), isFull([FEE, FEE - 1n], by)]).toEqual([true, false]);
    }
  });

  test("K10: what may be approved is there at the word of so many", () => {
    const of = (shown: readonly Shown[]) => {
      const judged = viewOf({ shown, rows: { chunks: [seen({ length: 1 })] } });
      return standingOf({ judged, facts: stateOfOrder(judged) } as OrderLook);
    };
    const markers = { 0: 1 };
    const differing = of([
      { markers: { ...markers, r0: 0 }, order: { usdc: 9n } },
      { markers, order: { usdc: 5n } },
    ]);
    expect(differing.held(USDC)).toBe(5n);
  });
});
