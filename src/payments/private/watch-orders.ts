/** Watches addresses of orders, many at a time: one node says where something has changed, and the order looks itself. */
import type { PrivateContext } from "./private-storage.ts";
import type { WatchRecord } from "../../workflow/watch-rows.ts";
import type { PollContext, Watcher } from "../../engine/index.ts";
import type { AssetAccount } from "../../ledger/routing.ts";
import { ledgerMint, smallestAmount } from "../frame/assets/assets.ts";
import type { OrderRecord } from "./tables.ts";

/** Three accounts each, a hundred in a call. */
const ORDERS_A_LOOK = 33;
/** An order with money is told to look now and then all the same: a marker of another copy changes no balance. */
const LOOKS_UNTIL_TOLD_AGAIN = 30;
/** Once a window is over by our clock the chain's is asked so often: some seconds lie between a block and its finality. */
const LOOKS_AFTER_END = 5;
/** The memory of an order is dropped when no look came for this time, and for a whole interval. */
const FORGET_AFTER_MS = 10 * 60_000;

type OrderWatchParts = Pick<PrivateContext, "storage" | "ledger" | "assets" | "clock">;

/** Memory of this process about a watched order: lost with it, and then told anew. */
interface Watched {
  readonly accounts: readonly AssetAccount[];
  /** The parts of a deposit, account by account: dust alone is no news. */
  readonly smallest: readonly bigint[];
  readonly windowEnds: number;
  isWaiting: boolean;
  /** Whether it waited before this process began, which has not told it to look yet: another copy may have gone on with it. */
  isUnseen: boolean;
  /** The amounts that the order was last told of; nothing before the first time. */
  told: readonly bigint[];
  looksSinceTold: number;
  seenAt: number;
}

/** The last news of orders, by id. An order that changes its pace within one memory is told nothing twice. */
export type OrderMemory = Map<string, Watched>;

/** Polls at finalized and tells `CHANGED`: a level, so that a repeated event changes nothing. */
export class OrderWatch implements Watcher {
  readonly intervalMs: number;
  readonly batchSize = ORDERS_A_LOOK;
  readonly #deps: OrderWatchParts;
  readonly #memory: OrderMemory;
  readonly #beganAt: number;

  constructor(deps: OrderWatchParts, intervalMs: number, memory: OrderMemory = new Map()) {
    this.#deps = deps;
    this.intervalMs = intervalMs;
    this.#memory = memory;
    this.#beganAt = deps.clock.now();
  }

  async poll(watches: readonly WatchRecord[], look: PollContext): ReturnType<Watcher["poll"]> {
    const found = await this.#remember(watches);
    const accounts = found.flatMap(({ watched }) => watched.accounts);
    const amounts = await this.#deps.ledger.amountsIn(accounts, "finalized");
    let next = 0;
    const shown = found.map(({ watch, watched }) => {
      const held = amounts.slice(next, (next += watched.accounts.length));
      watched.looksSinceTold += 1;
      return { watch, watched, held };
    });
    const due = shown.filter(({ watched, held }) => this.#isNews(watched, held));
    const untold = await look.tell(
      due.map(({ watch }) => ({ instance: watch.instance, event: { type: "CHANGED" } })),
    );
    const failed = new Set(untold.map(({ instance }) => instance));
    for (const { watch, watched, held } of due) {
      if (failed.has(watch.instance)) continue;
      watched.told = held;
      watched.isUnseen = false;
      watched.looksSinceTold = 0;
    }
    return [];
  }

  #isNews(watched: Watched, held: readonly bigint[]): boolean {
    const { told, smallest, looksSinceTold, isWaiting, windowEnds } = watched;
    const isDust = (amount: bigint, index: number): boolean => amount < (smallest[index] ?? 0n);
    const isChanged = held.some((amount, index) => {
      const before = told[index] ?? 0n;
      return amount !== before && !(isDust(amount, index) && isDust(before, index));
    });
    if (isChanged || watched.isUnseen) return true;
    if (isWaiting && this.#deps.clock.now() > windowEnds) return looksSinceTold >= LOOKS_AFTER_END;
    const isQuiet = isWaiting && held.every(isDust);
    return !isQuiet && looksSinceTold >= LOOKS_UNTIL_TOLD_AGAIN;
  }

  /** The memory of these orders; read for new ones, and again for those whose window seems to be over. */
  async #remember(
    watches: readonly WatchRecord[],
  ): Promise<readonly { readonly watch: WatchRecord; readonly watched: Watched }[]> {
    const now = this.#deps.clock.now();
    const keptMs = Math.max(FORGET_AFTER_MS, 2 * this.intervalMs);
    for (const [id, { seenAt }] of this.#memory) {
      if (now - seenAt <= keptMs) break;
      this.#memory.delete(id);
    }
    const ids = watches.map(({ key }) => key);
    const toRead = ids.filter((id) => {
      const known = this.#memory.get(id);
      return known === undefined || (known.isWaiting && now > known.windowEnds);
    });
    const rows = toRead.length === 0 ? [] : await this.#deps.storage.orders(toRead);
    for (const row of rows) {
      const known = this.#memory.get(row.id) ?? this.#begun(row);
      known.isWaiting = row.waitEndedAt === null;
      this.#memory.set(row.id, known);
    }
    return watches.flatMap((watch) => {
      const watched = this.#memory.get(watch.key);
      if (watched === undefined) return [];
      // Moved to the end: the first ones are those not looked at for longest.
      this.#memory.delete(watch.key);
      this.#memory.set(watch.key, watched);
      watched.seenAt = now;
      return [{ watch, watched }];
    });
  }

  #begun({ address, accounts, windowEnds, waitEndedAt, createdAt }: OrderRecord): Watched {
    const { ledger, assets, clock } = this.#deps;
    const places = assets.tokens.map((token) => {
      const mint = ledgerMint(token);
      if (mint === null) return { address, mint };
      return { address: accounts[mint] ?? ledger.tokenAccountOf(address, mint), mint };
    });
    const smallest = assets.tokens.map(smallestAmount);
    return {
      accounts: places,
      smallest,
      windowEnds,
      isWaiting: true,
      // An order of a later time than now is of a clock that was ahead of this one.
      isUnseen: waitEndedAt === null && (createdAt < this.#beganAt || createdAt > clock.now()),
      told: [],
      looksSinceTold: 0,
      seenAt: 0,
    };
  }
}
