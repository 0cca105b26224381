/** Lists of transactions of an account that has many: what a filter leaves out costs a page no more than its bound. */
import { afterEach, describe, expect, test } from "vitest";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/frame/assets/assets.ts";
import { listTransactions } from "../../../src/payments/frame/transactions/list-transactions.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { TransactionsQuery } from "../../../src/payments/frame/requests.ts";
import { signedDetails } from "../../../src/payments/frame/signed/signed-details.ts";
import type { TransactionMode } from "../../../src/payments/frame/transactions/transaction-mode.ts";
import { nullRows } from "../../contracts/storage/rows.ts";
import { adapters, type PaymentDatabase } from "../../kit/adapters.ts";
import { drawn } from "../../kit/thorough.ts";

const assets = assetsWith(MAINNET_STABLECOINS);
const { USDC } = MAINNET_STABLECOINS;
const ada = { accountId: "ada", tier: "free", scopes: [] } as const;
const SENDER = MAINNET_STABLECOINS.USDT;
const PAYEE = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

/** Lists of sends alone: their bytes tell all that is shown of them. */
const modes: readonly TransactionMode[] = [
  {
    mode: "wallet",
    details: async () => (view) => signedDetails(view.transaction),
    createdBody: async () => null,
    cancel: () => Promise.reject(new Error("a list cancels nothing")),
  },
];

const idOf = (n: number): string => `tx_${String(n).padStart(6, "0")}`;

/** So many wallet sends to one payee, of which only the oldest one was a payroll and failed. */
async function fill(storage: PaymentStorage, count: number): Promise<void> {
  const writes = Array.from({ length: count }, (_, n) => {
    const own = { accountId: "ada", createdAt: 1_000 + n };
    const kind = n === 0 ? ({ type: "payroll", status: "failed" } as const) : ({ type: "send" } as const);
    const asset = { inputMint: USDC, outputMint: USDC, feeMint: USDC };
    const transaction = { ...nullRows.transactions, sender: SENDER, ...asset, ...own, ...kind, id: idOf(n) };
    const recipient = {
      ...nullRows.recipients,
      ...own,
      id: `${idOf(n)}:0`,
      transactionId: idOf(n),
      index: 0,
    };
    return [
      { table: "transactions" as const, insert: transaction },
      { table: "recipients" as const, insert: { ...recipient, address: PAYEE as typeof recipient.address } },
    ];
  });
  const results = await storage.commit(writes.map((each) => ({ writes: each })));
  expect(results.every(({ ok }) => ok)).toBe(true);
}

/** The storage, and what was asked of it. */
function counted(storage: PaymentStorage): { readonly storage: PaymentStorage; readonly asked: string[] } {
  const asked: string[] = [];
  const watched = new Proxy(storage, {
    get(target, name: keyof PaymentStorage) {
      const act = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        asked.push(name);
        return act.apply(target, args);
      };
    },
  });
  return { storage: watched, asked };
}

describe.each(drawn(adapters, "long lists"))("on $name", (adapter) => {
  let opened: readonly PaymentStorage[] = [];
  let database: PaymentDatabase | null = null;
  async function filled(count: number): Promise<PaymentStorage> {
    database = await adapter.make();
    const storage = await database.open();
    opened = [storage];
    await fill(storage, count);
    return storage;
  }
  afterEach(async () => {
    for (const each of opened) await each.close();
    await database?.destroy();
  });

  test("L1: a page whose filters leave nothing ends after a thousand rows, and the next one begins there", async () => {
    const { storage, asked } = counted(await filled(1_300));
    const list = (query: TransactionsQuery) => listTransactions({ storage, assets, modes }, ada, query);
    const fitting = { recipient: PAYEE, type: "payroll" } as const;
    const first = await list(fitting);
    expect([first.data, first.hasMore]).toEqual([[], true]);
    expect(asked.filter((name) => name === "transactionsOf")).toHaveLength(10);
    const { nextAfter = "" } = first;
    const next = await list({ ...fitting, startingAfter: nextAfter });
    expect(next.data.map(({ transactionId }) => transactionId)).toEqual([idOf(0)]);
    expect(next).not.toHaveProperty("nextAfter");
    const pages = await Promise.all([
      list({ type: "send", status: "failed" }),
      list({ type: "swap", mode: "wallet" }),
      list({ mode: "private", status: "completed", reference: "none" }),
    ]);
    expect(pages.map(({ data, hasMore }) => [data.length, hasMore])).toEqual([
      [0, false],
      [0, false],
      [0, false],
    ]);
  });

  test("L6: a page with one filter at most reads one row more than it shows, and goes on where rows have gone", async () => {
    const storage = await filled(150);
    const limits: number[] = [];
    const watched: PaymentStorage = {
      ...storage,
      transactionsOf: (accountId, only, page) => {
        limits.push(page.limit);
        return storage.transactionsOf(accountId, only, page);
      },
    };
    const list = async (query: TransactionsQuery) => {
      const { data, hasMore } = await listTransactions({ storage: watched, assets, modes }, ada, query);
      return [data.length, hasMore];
    };
    for (const query of [{}, { recipient: PAYEE }, { type: "send" }, { mode: "wallet" }] as const) {
      expect(await list({ ...query, limit: 20 })).toEqual([20, true]);
    }
    expect(limits).toEqual([21, 21, 21, 21]);
    const newest = Array.from({ length: 10 }, (_, n) => ({
      table: "transactions" as const,
      remove: idOf(149 - n),
    }));
    await storage.commit([{ writes: newest }]);
    expect(await list({ recipient: PAYEE, limit: 20 })).toEqual([20, true]);
    expect(limits.slice(4)).toEqual([21, 101]);
  });

  test("Q7: windows laid end to end show each transaction once, whatever filters them", async () => {
    const storage = await filled(60);
    const edges = [0, 1_000, 1_007, 1_008, 1_030, 1_059, 1_060].map((at) => new Date(at).toISOString());
    for (const filter of [
      {},
      { recipient: PAYEE },
      { asset: "USDC" },
      { type: "send" },
      { sender: SENDER },
    ] as const) {
      const seen: string[] = [];
      for (const [index, createdAfter] of edges.entries()) {
        const until = edges[index + 1];
        const window = until === undefined ? { createdAfter } : { createdAfter, createdBefore: until };
        const query = { ...filter, ...window, limit: 100 };
        const { data } = await listTransactions({ storage, assets, modes }, ada, query);
        seen.push(...data.map(({ transactionId }) => transactionId));
      }
      const all = Array.from({ length: 60 }, (_, n) => idOf(n)).filter(
        (id) => !("type" in filter) || id !== idOf(0),
      );
      expect(seen.toSorted(), JSON.stringify(filter)).toEqual(all);
    }
  });

  test("L1: where a page ended, the next one begins although the row is gone, within the time that was asked for", async () => {
    const storage = await filled(1_300);
    const fitting = { recipient: PAYEE, status: "failed" } as const;
    const { nextAfter = "" } = await listTransactions({ storage, assets, modes }, ada, fitting);
    const last = idOf(1_300 - 1_010);
    const [gone] = await storage.commit([{ writes: [{ table: "transactions", remove: last }] }]);
    expect(gone?.ok).toBe(true);
    const rest = { ...fitting, startingAfter: nextAfter };
    const { data } = await listTransactions({ storage, assets, modes }, ada, rest);
    expect(data).toHaveLength(1);
    const stranger = { ...ada, accountId: "bob" };
    expect(await listTransactions({ storage, assets, modes }, stranger, rest)).toEqual({
      data: [],
      hasMore: false,
    });
    const before = { ...fitting, startingAfter: nextAfter, createdBefore: new Date(1_000).toISOString() };
    expect(await listTransactions({ storage, assets, modes }, ada, before)).toEqual({
      data: [],
      hasMore: false,
    });
    for (const startingAfter of ["after_", "after_1_", `after_x_${last}`, `after_1_${last}'`]) {
      await expect(
        listTransactions({ storage, assets, modes }, ada, { ...fitting, startingAfter }),
      ).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    }
  });

  test("L1: a row that goes while its page is read is not shown in part, and an empty page tells where the next begins", async () => {
    const storage = await filled(3);
    const newest = idOf(2);
    const removing: PaymentStorage = {
      ...storage,
      async transactionViews(ids) {
        const removals = [
          { table: "transactions" as const, remove: newest },
          { table: "recipients" as const, remove: `${newest}:0` },
        ];
        await storage.commit([{ writes: removals }]);
        return storage.transactionViews(ids);
      },
    };
    const page = await listTransactions({ storage: removing, assets, modes }, ada, { limit: 1 });
    expect(page).toEqual({ data: [], hasMore: true, nextAfter: `after_1002_${newest}` });
    const rest = await listTransactions({ storage, assets, modes }, ada, { startingAfter: page.nextAfter });
    expect(rest.data.map(({ transactionId }) => transactionId)).toEqual([idOf(1), idOf(0)]);
  });

  test("L1: for a caller who has gone no more rows are looked through: the page ends early, and is no error", async () => {
    const { storage, asked } = counted(await filled(300));
    const page = await listTransactions({ storage, assets, modes }, ada, {
      recipient: PAYEE,
      mode: "private",
      signal: AbortSignal.abort(),
    });
    const last = 300 - 101;
    expect(page).toEqual({ data: [], hasMore: true, nextAfter: `after_${1_000 + last}_${idOf(last)}` });
    expect(asked).toEqual(["transactionsOf"]);
  });

  test("L1, L6: a page asks for its rows together, however many they are", async () => {
    const { storage, asked } = counted(await filled(250));
    for (const query of [{ limit: 100 }, { limit: 100, recipient: PAYEE, mode: "wallet" } as const]) {
      asked.length = 0;
      const { data } = await listTransactions({ storage, assets, modes }, ada, query);
      expect(data).toHaveLength(100);
      expect(data.map(({ recipients }) => recipients.length)).toEqual(Array(100).fill(1));
      expect(asked).toEqual(["transactionsOf", "transactionViews", "refundsOf"]);
    }
  });
});
