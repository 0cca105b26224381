/** More deposit addresses than one look can take: each has its turn, whatever becomes of the others. */
import { expect, test } from "vitest";
import { memoryStorage } from "../../../storage/memory.ts";
import type { DepositRecord } from "../../../storage/records.ts";
import type { WatchRecord } from "../../../storage/storage.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/assets.ts";
import { watchDeposits } from "../../../src/payments/private/watch-deposits.ts";

const ADDRESSES = 25_000;
const AT_ONCE = 10_000;
const DAY_MS = 86_400_000;

const watches = Array.from({ length: ADDRESSES }, (_, index): WatchRecord => {
  const key = `address ${String(index).padStart(5, "0")}`;
  return { kind: "deposits", key, instance: key, workflow: "deposit-address@1", shard: 0 };
});

async function watched(funds: Ledger["funds"]): Promise<() => Promise<readonly string[]>> {
  const storage = memoryStorage();
  const inserts = watches.map(({ key }, index): DepositRecord => ({
    ...{ id: key, transactionId: `tx_${index}`, accountId: "account", masterVersion: 1 },
    ...{ mint: MAINNET_STABLECOINS.USDC, amount: 1n, expiresAt: DAY_MS },
    ...{ waitEndedAt: null, heldReason: null, createdAt: 0 },
  }));
  await storage.commit([{ writes: inserts.map((insert) => ({ table: "deposits", insert })) }]);
  const watcher = watchDeposits({
    storage,
    ledger: { funds } as Ledger,
    assets: assetsWith(MAINNET_STABLECOINS),
    hasPaidWithoutUs: async () => false,
    intervalMs: 1_000,
  });
  return async () =>
    (await watcher.poll(watches, new AbortController().signal)).map(({ instance }) => instance);
}

const empty: Ledger["funds"] = async (addresses) => ({
  ...{ slot: 1, blockTime: 0, endpoint: "node" },
  funds: addresses.map(() => ({ lamports: 0n, tokens: [0n, 0n] })),
});

test("of 25,000 addresses no look takes more than 10,000, and three looks have seen each of them", async () => {
  const looks: number[] = [];
  const poll = await watched((addresses, ...rest) => {
    looks.push(addresses.length);
    return empty(addresses, ...rest);
  });
  const told = [...(await poll()), ...(await poll()), ...(await poll())];
  expect(looks).toEqual([AT_ONCE, AT_ONCE, AT_ONCE]);
  expect(new Set(told).size).toBe(ADDRESSES);
  // What was said of the first is remembered over the looks at the others: nothing of it is news.
  expect(told).toHaveLength(ADDRESSES);
  expect(await poll()).toEqual([]);
});

test("addresses that cannot be read do not keep the others from their turn", async () => {
  const poll = await watched(async (addresses, ...rest) => {
    if (addresses.includes(watches[0]?.key as never)) throw new LedgerUnavailable("no node answers");
    return empty(addresses, ...rest);
  });
  await expect(poll()).rejects.toBeInstanceOf(LedgerUnavailable);
  expect(await poll()).toHaveLength(AT_ONCE);
  await expect(poll()).rejects.toBeInstanceOf(LedgerUnavailable);
});
