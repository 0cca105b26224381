/** The watch of deposit addresses alone, over a ledger that a test fills: what is asked of the chain, and what is told. */
import { agreed } from "../../../src/ledger/agreed.ts";
import { heard } from "../../../src/ledger/heard.ts";
import { UNKNOWN_SPENDING } from "../../../src/payments/outgoing/unknown-spending.ts";
import { addressOf, knownAddress, type Address } from "../../../src/address.ts";
import { memoryStorage } from "../../kit/storages.ts";
import type { DepositRecord } from "../../../src/payments/tables/deposits.ts";
import type { WatchRecord } from "../../../storage/storage.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { Watcher, WatchEvent } from "../../../src/engine/index.ts";
import { DisputeList } from "../../../src/ledger/disputes.ts";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/assets/assets.ts";
import { LookBudget } from "../../../src/payments/private/look-budget.ts";
import { DepositWatch } from "../../../src/payments/private/watch-deposits.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";
import { notedLook, type NotedLook } from "../../kit/watch-look.ts";

/** Every window ends at this time, which is a day after the clock's beginning. */
export const WINDOW_MS = 86_400_000;

/** What one address holds, by asset. */
export type Held = readonly [sol: bigint, usdc: bigint, usdt: bigint];

/** A watch, and the hands that move what it looks at. */
export interface WatchedWorld {
  readonly clock: VirtualClock;
  readonly storage: PaymentStorage;
  readonly addresses: readonly string[];
  /** What is really there, finalized; nothing where nothing is set. */
  readonly holdings: Map<string, Held>;
  /** How many accounts each cheap look asked for, and how many addresses each full reading. */
  readonly looks: number[];
  readonly readings: number[];
  /** How often an account was derived. */
  derived: number;
  /** What a node answers instead, while it is set. */
  lookedAs: ((address: string) => Held) | null;
  readAs: ((address: string) => Held) | null;
  /** Runs before each call; may throw. */
  beforeCall: (addresses: readonly string[]) => void;
  /** The chain's clock runs behind ours by so much. */
  behindMs: number;
  readonly spentElsewhere: Set<string>;
  /** Addresses of which nobody tells what they have paid. */
  readonly unreadable: Set<string>;
  /** Looks at all of them once, batch by batch; what was told. Throws when every batch failed. */
  poll(look?: NotedLook): Promise<readonly WatchEvent[]>;
  /** The instances that one look has something to say to. */
  told(): Promise<readonly string[]>;
  /** What a new process has of it: nothing but the database. */
  restart(): void;
}

/** An address for each index, in their order. */
export function addressAt(index: number): Address {
  const bytes = Buffer.alloc(32, 7);
  bytes.writeUInt32BE(index);
  bytes.writeUInt8(7);
  return addressOf(bytes);
}

/** So many addresses of orders in USDC, in the order of their names; `set` changes what their rows say. */
export async function watchedWorld(
  count: number,
  set: Partial<Pick<DepositRecord, "mint" | "waitEndedAt" | "heldReason" | "accounts">> = {},
): Promise<WatchedWorld> {
  const storage = memoryStorage();
  const clock = virtualClock();
  const watches = Array.from({ length: count }, (_, index): WatchRecord => {
    const key = addressAt(index);
    return { kind: "deposits", key, instance: key, life: "", workflow: "deposit-address@1", shard: 0 };
  });
  const inserts = watches.map(({ key }, index): DepositRecord => ({
    id: knownAddress(key),
    transactionId: `tx_${index}`,
    accountId: "account",
    referenceKey: null,
    masterVersion: 1,
    mint: MAINNET_STABLECOINS.USDC,
    amount: 1n,
    expiresAt: clock.now() + WINDOW_MS,
    waitEndedAt: null,
    heldReason: null,
    checkedTo: null,
    otherMintsAt: null,
    accounts: null,
    version: 1,
    createdAt: 0,
    ...set,
  }));
  await storage.commit([{ writes: inserts.map((insert) => ({ table: "deposits", insert })) }]);
  const { USDC, USDT } = MAINNET_STABLECOINS;
  const truth = (address: string): Held => world.holdings.get(address) ?? [0n, 0n, 0n];
  const ledger: Pick<Ledger, "funds" | "amountsIn" | "tokenAccountOf"> = {
    tokenAccountOf(owner, mint) {
      world.derived += 1;
      return `${owner}/${mint}` as Address;
    },
    async amountsIn(accounts) {
      world.looks.push(accounts.length);
      const owners = accounts.map(({ address }) => address.split("/")[0] ?? "");
      world.beforeCall(owners);
      return accounts.map(({ mint }, index) => {
        const [sol, usdc, usdt] = (world.lookedAs ?? truth)(owners[index] ?? "");
        return heard(mint === USDC ? usdc : mint === USDT ? usdt : sol);
      });
    },
    async funds(addresses) {
      world.readings.push(addresses.length);
      world.beforeCall(addresses);
      const blockTime = Math.floor((clock.now() - world.behindMs) / 1_000);
      const funds = addresses.map((address) => {
        const [lamports, ...tokens] = (world.readAs ?? truth)(address);
        return { lamports, tokens };
      });
      return agreed({ slot: 1, blockTime, endpoint: "node", funds });
    },
  };
  const begin = (): Watcher =>
    new DepositWatch(
      {
        storage,
        ledger: ledger as Ledger,
        assets: assetsWith(MAINNET_STABLECOINS),
        clock,
        disputes: new DisputeList(clock),
        budget: new LookBudget({}),
        names: { note: () => {}, work: async () => {} },
        spendingCheck: async (address) => {
          if (world.unreadable.has(address)) throw new LedgerUnavailable("no node answers");
          return world.spentElsewhere.has(address) ? UNKNOWN_SPENDING : null;
        },
      },
      { kind: "deposits", intervalMs: 1_000 },
    );
  let watcher = begin();
  const world: WatchedWorld = {
    clock,
    storage,
    addresses: watches.map(({ key }) => key),
    holdings: new Map(),
    looks: [],
    readings: [],
    derived: 0,
    lookedAs: null,
    readAs: null,
    beforeCall: () => undefined,
    behindMs: 0,
    spentElsewhere: new Set(),
    unreadable: new Set(),
    async poll(look = notedLook()) {
      const size = watcher.batchSize ?? watches.length;
      const batches: WatchRecord[][] = [];
      for (let start = 0; start < watches.length; start += size) {
        batches.push(watches.slice(start, start + size));
      }
      const ended = await Promise.allSettled(batches.map(async (batch) => await watcher.poll(batch, look)));
      const failed = ended.filter((each) => each.status === "rejected");
      if (failed.length === batches.length) throw failed[0]?.reason;
      return look.told;
    },
    told: async () => (await world.poll()).map(({ instance }) => instance),
    restart() {
      watcher = begin();
    },
  };
  return world;
}
