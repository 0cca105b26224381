/** Q10: the books of an order close whatever its rows say, and the rest of each asset has its true reason. */
// modules: private
import fc from "fast-check";
import { WRAPPED_SOL } from "../../../src/payments/frame/assets/shown-amount.ts";
import { describe, expect, test } from "vitest";
import { knownAddress, SOL_MINT, type Address } from "../../../src/core/address.ts";
import { booksOf, type BookRows, type OrderBooks } from "../../../src/payments/private/order-books.ts";
import type { AttemptLeg, AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import type {
  ChunkRecord,
  DepositRecord,
  LevelRecord,
  OrderRecord,
  TransferRecord,
} from "../../../src/payments/private/tables.ts";
import { fullRows } from "../../contracts/storage/rows.ts";

const USDC = knownAddress("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");
const [ALICE, SPONSOR, FOREIGN] = ["alice", "sponsor", "foreign"].map((name) => name as Address) as [
  Address,
  Address,
  Address,
];
const ASSETS: readonly Address[] = [SOL_MINT, USDC];

const ORDER: OrderRecord = {
  ...fullRows.orders,
  id: "tx",
  mint: USDC,
  sender: ALICE,
  required: 105n,
  fee: 5n,
  cut: [1],
  waitEndedAt: 1_000,
  state: "over",
  overState: "idle",
  reason: null,
};

const EMPTY: BookRows = {
  order: ORDER,
  chunks: [],
  transfers: [],
  levels: [],
  deposits: [],
  holds: [],
  acts: [],
  attempts: [],
  recipients: [{ status: "unpaid", amount: 100n }],
  transaction: { type: "send", status: "failed", reason: null },
  assets: ASSETS,
};

const level = (mint: string, received: bigint, more: Partial<LevelRecord> = {}): LevelRecord => {
  const clean = { received, out: 0n, writtenOff: 0n, missing: 0n, short: false };
  return { ...fullRows.levels, order: "tx", mint, ...clean, ...more };
};

const deposit = (amount: bigint, more: Partial<DepositRecord> = {}): DepositRecord => {
  const own = { account: null, leftAt: null, decimals: null, payer: ALICE, signature: "came", at: 500 };
  return { ...fullRows.deposits, order: "tx", mint: USDC, amount, ...own, ...more };
};

const chunk0 = (length: number | null, paid: readonly number[] | null = null): ChunkRecord => {
  return { ...fullRows.chunks, order: "tx", k: 0, length, paid, isOwn: paid === null };
};

const rest = (state: TransferRecord["state"], more: Partial<TransferRecord> = {}): TransferRecord => {
  const signature = state === "done" ? "signed tr" : null;
  const own = { id: "tr", order: "tx", kind: "rest", n: 0, state, signature, legs: null } as const;
  return { ...fullRows.transfers, ...own, ...more };
};

const attempt = (legs: readonly AttemptLeg[], transfer = "tr"): AttemptRecord => {
  return { ...fullRows.attempts, id: `signed ${transfer}`, transfer, legs };
};

const leg = (as: AttemptLeg["as"], amount: bigint, mint: string = USDC): AttemptLeg => {
  return { as, amount, mint, to: as === "cost" ? SPONSOR : ALICE };
};

const PAID: Partial<BookRows> = {
  chunks: [chunk0(0)],
  recipients: [{ status: "paid", amount: 100n }],
  transaction: { type: "send", status: "completed", reason: null },
};

const sum = (of: readonly { readonly amount: bigint }[]): bigint =>
  of.reduce((total, { amount }) => total + amount, 0n);

/** What came of an asset, less all that the books say of it. */
function open({ received, refunds, unreturned, paid, fee }: OrderBooks, mint: string): bigint {
  const of = <S extends { readonly mint: string }>(sums: readonly S[]): readonly S[] =>
    sums.filter((each) => each.mint === mint);
  const back = sum(of(refunds)) + of(refunds).reduce((total, { cost }) => total + cost, 0n);
  const kept = mint === USDC ? paid + (fee ?? 0n) : 0n;
  return sum(of(received)) - back - kept - sum(of(unreturned));
}

describe("Q10: the books of an order", () => {
  test.for([
    ["rest", 1],
    ["redirect", 1],
    ["foreign", 1],
    ["chunk", 0],
    ["collect", 0],
  ] as const)("show a %s as %i refund", ([kind, count]) => {
    const transfers = [rest("done", { kind })];
    const { refunds } = booksOf({ ...EMPTY, transfers, attempts: [attempt([leg("sender", 7n)])] });
    expect(refunds).toHaveLength(count);
  });

  const amounts = fc.bigInt({ min: 0n, max: 300n });
  const mints = fc.constantFrom<Address>(SOL_MINT, USDC, FOREIGN);
  const moments = fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: null });
  const legs = fc.array(
    fc.record({
      as: fc.constantFrom<AttemptLeg["as"]>("sender", "payee", "cost", "loan", "rent"),
      mint: mints,
      amount: amounts,
    }),
    { maxLength: 4 },
  );
  const sent = fc.record({
    kind: fc.constantFrom<TransferRecord["kind"]>("chunk", "rest", "redirect", "collect", "foreign"),
    state: fc.constantFrom<TransferRecord["state"]>("planned", "out", "done", "ended"),
    attempts: fc.array(legs, { maxLength: 2 }),
  });
  const rows = fc
    .record({
      type: fc.constantFrom("send" as const, "swap" as const),
      status: fc.constantFrom(
        "pending",
        "processing",
        "confirmed",
        "completed",
        "failed",
        "cancelled" as const,
      ),
      reason: fc.constantFrom(null, "INCOMPLETE_DEPOSIT", "PARTIAL_PAYOUT"),
      overState: fc.constantFrom(null, "idle", "paying", "resting" as const),
      cut: fc.constantFrom([1], [2, 1]),
      length: fc.constantFrom(null, 0, 1, 2, 3, 5, 99),
      told: fc.option(fc.subarray([0, 1, 2]), { nil: null }),
      shares: fc.array(
        fc.record({ status: fc.constantFrom("paid" as const, "unpaid" as const), amount: amounts }),
        {
          maxLength: 3,
        },
      ),
      levels: fc.array(
        fc.record({ mint: mints, received: amounts, out: amounts, writtenOff: amounts, missing: amounts }),
        {
          maxLength: 3,
        },
      ),
      deposits: fc.array(
        fc.record({
          mint: mints,
          amount: amounts,
          account: fc.constantFrom(null, FOREIGN),
          leftAt: moments,
          at: fc.integer({ min: 0, max: 2_000 }),
        }),
        { maxLength: 4 },
      ),
      transfers: fc.array(sent, { maxLength: 4 }),
      holds: fc.array(moments, { maxLength: 2 }),
    })
    .map((drawn): BookRows => {
      const ids = drawn.transfers.map((_, index) => `tr${index}`);
      const attempts = drawn.transfers.flatMap((transfer, index) =>
        transfer.attempts.map((each, number) => ({
          ...attempt([]),
          id: `${ids[index]}:${number}`,
          transfer: ids[index] ?? "",
          legs: each.map((own) => ({ ...own, to: ALICE })),
        })),
      );
      return {
        ...EMPTY,
        order: {
          ...ORDER,
          cut: drawn.cut,
          state: drawn.overState === null ? "paying" : "over",
          overState: drawn.overState,
        },
        chunks: [chunk0(drawn.length, drawn.told)],
        recipients: drawn.shares,
        transaction: { type: drawn.type, status: drawn.status, reason: drawn.reason },
        levels: drawn.levels.map((each) => level(each.mint, each.received, each)),
        deposits: drawn.deposits.map(({ amount, ...more }) => deposit(amount, more)),
        transfers: drawn.transfers.map(({ kind, state }, index) =>
          rest(state, { id: ids[index] ?? "", kind, signature: `${ids[index]}:0` }),
        ),
        holds: drawn.holds.map((endedAt) => ({ ...fullRows.holds, order: "tx", endedAt })),
        attempts,
      };
    });

  test("close for each asset, with no amount below zero, over any rows", () => {
    fc.assert(
      fc.property(rows, (drawn) => {
        const books = booksOf(drawn);
        for (const mint of ASSETS) expect([mint, open(books, mint)]).toEqual([mint, 0n]);
        const shown = [...books.received, ...books.refunds, ...books.unreturned];
        for (const { amount } of shown) expect(amount >= 0n).toBe(true);
        for (const { cost } of books.refunds) expect(cost >= 0n).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("a level that no listed transaction explains is shown beside the deposits that do", () => {
    const { received } = booksOf({ ...EMPTY, levels: [level(USDC, 50n)], deposits: [deposit(20n)] });
    expect(received).toMatchObject([
      { mint: USDC, amount: 20n, payer: ALICE, signature: "came", isCounted: true },
      { mint: USDC, amount: 30n, payer: null, signature: null, isCounted: true },
    ]);
  });

  test("deposits that one look has listed stand in the order of their blocks", () => {
    const [late, early] = [deposit(2n, { slot: 9 }), deposit(1n, { slot: 8 })];
    const { received } = booksOf({ ...EMPTY, deposits: [late, early, deposit(3n, { at: 400, slot: 10 })] });
    expect(received.map(({ amount }) => amount)).toEqual([3n, 1n, 2n]);
  });

  test("what counts towards the deposit is what came before it was whole, in its asset, at the address, in time", () => {
    const came = [
      deposit(60n),
      deposit(7n, { mint: SOL_MINT }),
      deposit(9n, { account: FOREIGN }),
      deposit(60n),
      deposit(3n),
    ];
    const counted = (more: Partial<BookRows>): boolean[] =>
      booksOf({ ...EMPTY, deposits: came, ...more }).received.map(({ isCounted }) => isCounted);
    expect(counted({})).toEqual([true, false, false, true, false]);
    const cancelled = { ...EMPTY.transaction, status: "cancelled" as const };
    expect(counted({ transaction: cancelled })).not.toContain(true);
    // Of an order that never had its deposit, what came after the window never counts.
    const late = [deposit(60n), deposit(20n, { at: 1_500 }), deposit(45n, { at: 1_000 })];
    const ended = (reason: string) => ({ deposits: late, transaction: { ...EMPTY.transaction, reason } });
    expect(counted(ended("INCOMPLETE_DEPOSIT"))).toEqual([true, false, false]);
    expect(counted(ended("DEPOSIT_TIMEOUT"))).toEqual([false, false, false]);
  });

  test("what was collected from another token account is shown once", () => {
    const stray = deposit(9n, { account: FOREIGN, leftAt: 2_000 });
    const collect = rest("done", { kind: "collect", subjects: [FOREIGN], landedAt: 2_000 });
    const came = { levels: [level(USDC, 29n)], deposits: [deposit(20n), stray] };
    // What has left otherwise never came to the address itself.
    const stolen = booksOf({ ...EMPTY, ...came });
    expect(stolen.received.map(({ amount }) => amount)).toEqual([20n, 9n, 9n]);
    const books = booksOf({ ...EMPTY, ...came, transfers: [collect] });
    expect(books.received.map(({ amount }) => amount)).toEqual([20n, 9n]);
    expect(books.unreturned).toEqual([{ mint: USDC, amount: 29n, reason: "dust" }]);
  });

  test("P13: money that a person has to collect is held, crumbs are dust, and an ordered collect is under way", () => {
    const came = { levels: [level(USDC, 20n)], deposits: [deposit(20n), deposit(9n, { account: FOREIGN })] };
    const left = (more: Partial<BookRows>) => booksOf({ ...EMPTY, ...came, ...more }).unreturned;
    expect(left({})).toEqual([
      { mint: USDC, amount: 9n, reason: "held" },
      { mint: USDC, amount: 20n, reason: "dust" },
    ]);
    const crumbs = [deposit(20n), deposit(999n, { account: FOREIGN, decimals: 6 })];
    expect(left({ deposits: crumbs })).toEqual([{ mint: USDC, amount: 1_019n, reason: "dust" }]);
    const planned = rest("planned", { kind: "collect", subjects: [FOREIGN] });
    expect(left({ transfers: [planned] })).toEqual([{ mint: USDC, amount: 29n, reason: "under_way" }]);
  });

  test("wrapped SOL is another asset than SOL", () => {
    const wrapped = deposit(9n, { mint: SOL_MINT, account: FOREIGN });
    const books = booksOf({ ...EMPTY, levels: [level(SOL_MINT, 5n)], deposits: [wrapped] });
    expect(books.received.map(({ mint, amount }) => [mint, amount])).toEqual([
      [WRAPPED_SOL, 9n],
      [SOL_MINT, 5n],
    ]);
    expect(books.unreturned).toEqual([{ mint: SOL_MINT, amount: 5n, reason: "dust" }]);
    // Collected it is SOL, which came once.
    const collect = rest("done", { kind: "collect", subjects: [FOREIGN], landedAt: 2_000 });
    const collected = { ...wrapped, leftAt: 2_000 };
    const after = booksOf({
      ...EMPTY,
      levels: [level(SOL_MINT, 14n)],
      deposits: [collected],
      transfers: [collect],
    });
    expect(after.received.map(({ mint, amount }) => [mint, amount])).toEqual([
      [SOL_MINT, 9n],
      [SOL_MINT, 5n],
    ]);
  });

  test("a rest is a refund of each asset, with the cost that this asset bears, and no loan or rent", () => {
    const moved = [
      leg("sender", 40n),
      leg("cost", 2n),
      leg("sender", 7n, SOL_MINT),
      leg("loan", 99n, SOL_MINT),
    ];
    const books = booksOf({
      ...EMPTY,
      ...PAID,
      levels: [level(USDC, 147n, { out: 42n }), level(SOL_MINT, 7n, { out: 7n })],
      transfers: [rest("done")],
      attempts: [attempt(moved)],
    });
    const common = { to: ALICE, signature: "signed tr", status: "paid" };
    expect(books).toMatchObject({
      refunds: [
        { mint: USDC, amount: 40n, cost: 2n, ...common },
        { mint: SOL_MINT, amount: 7n, cost: 0n, ...common },
      ],
      unreturned: [],
      paid: 100n,
      fee: 5n,
    });
  });

  test("a sum that went to the sponsor alone is dust and no refund", () => {
    const books = booksOf({
      ...EMPTY,
      levels: [level(USDC, 2n, { out: 2n })],
      transfers: [rest("done")],
      attempts: [attempt([leg("cost", 2n)])],
    });
    expect(books.refunds).toEqual([]);
    expect(books.unreturned).toEqual([{ mint: USDC, amount: 2n, reason: "dust" }]);
  });

  test("bytes that did not land are shown as pending, or held, as far as the money is there", () => {
    const out: BookRows = {
      ...EMPTY,
      levels: [level(USDC, 45n)],
      transfers: [rest("out")],
      attempts: [attempt([leg("sender", 40n), leg("cost", 2n)])],
    };
    expect(booksOf(out)).toMatchObject({
      refunds: [{ amount: 40n, cost: 2n, status: "pending", signature: "signed tr" }],
      unreturned: [{ amount: 3n, reason: "under_way" }],
    });
    const holds = [{ ...fullRows.holds, order: "tx", endedAt: null }];
    expect(booksOf({ ...out, transfers: [rest("planned")], holds })).toMatchObject({
      refunds: [{ status: "held", signature: null }],
      unreturned: [{ amount: 3n, reason: "held" }],
    });
    expect(booksOf({ ...out, levels: [level(USDC, 41n)] })).toMatchObject({
      refunds: [],
      unreturned: [{ amount: 41n, reason: "under_way" }],
    });
  });

  test("missing is what is told as missing or was written off, and never more than is left", () => {
    const lost = { missing: 4n, writtenOff: 6n };
    expect(booksOf({ ...EMPTY, levels: [level(USDC, 30n, lost)] }).unreturned).toEqual([
      { mint: USDC, amount: 20n, reason: "dust" },
      { mint: USDC, amount: 10n, reason: "missing" },
    ]);
    expect(booksOf({ ...EMPTY, ...PAID, levels: [level(USDC, 107n, lost)] }).unreturned).toEqual([
      { mint: USDC, amount: 2n, reason: "missing" },
    ]);
  });

  test("the fee is told by chunk 0: open, taken with any go that does not leave it out, and none with the no-go", () => {
    const fee = (chunk: ChunkRecord, more: Partial<OrderRecord> = {}): bigint | null =>
      booksOf({ ...EMPTY, order: { ...ORDER, ...more }, chunks: [chunk] }).fee;
    expect(fee(chunk0(null), { overState: "paying" })).toBeNull();
    expect(fee(chunk0(null))).toBe(0n);
    expect(fee(chunk0(0))).toBe(5n);
    expect(fee(chunk0(1))).toBe(0n);
    // The marker of another copy, whose transaction did not pay the treasury.
    expect(fee(chunk0(0, [1]))).toBe(0n);
    expect(fee(chunk0(2), { cut: [1, 1] })).toBe(0n);
  });

  test("a swap gives away all that was asked for but the fee", () => {
    const swap = { ...PAID, transaction: { type: "swap", status: "completed", reason: null } } as const;
    const books = booksOf({
      ...EMPTY,
      ...swap,
      recipients: [{ status: "paid", amount: 7n }],
      levels: [level(USDC, 105n)],
    });
    expect(books).toMatchObject({ paid: 100n, fee: 5n, unreturned: [] });
  });
});
