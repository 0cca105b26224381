/** Looking at deposit addresses, many at a time: their balances in the newest finalized block. */
import type { WatchRecord } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import type { PollContext, WatchEvent, Watcher } from "../../engine/index.ts";
import type { Evidence } from "../../ledger/belief.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { FundsReading } from "../../ledger/routing.ts";
import { ledgerMint, smallestAmount } from "../assets/assets.ts";
import type { ServiceContext } from "../service-context.ts";
import { inLanes } from "../semaphore.ts";
import type { DepositNameQueue } from "./deposit-names.ts";
import type { LookBudget } from "./look-budget.ts";
import { lookAtOneAccount, watchedAddress, type WatchedAddress } from "./look-at-account.ts";
import { creditedAmounts } from "./received-funds.ts";
import { holdAddress, type SpendingCheck } from "../outgoing/unknown-spending.ts";

/**
 * After this many looks an event is repeated, in case the instance missed it. Events carry total balances, so a
 * repetition changes nothing. An empty address within its window has no event.
 */
const LOOKS_UNTIL_SAID_AGAIN = 30;
/** Addresses in one look: one call takes as many accounts, and a slow or missing answer delays no other look. */
const ADDRESSES_A_LOOK = 100;
/** Ends of windows that are looked into at once: each may cost a call or two. */
const ENDS_AT_ONCE = 4;
/** The memory of an address is dropped when no look came for this time, and for a whole interval. */
const FORGET_AFTER_MS = 10 * 60_000;
/** A window that ends so soon is about to end: its address comes before its turn. */
const ENDING_MS = 30_000;

interface DepositWatchParts extends Pick<
  ServiceContext,
  "storage" | "ledger" | "assets" | "clock" | "disputes"
> {
  readonly spendingCheck: SpendingCheck;
  readonly budget: LookBudget;
  /** Names what came in, once it is told. */
  readonly names: Pick<DepositNameQueue, "note" | "work">;
}

/** A full reading of an address. */
interface Shown {
  readonly watched: WatchedAddress;
  readonly amounts: readonly bigint[];
  readonly isOver: boolean;
  readonly event: WatchEvent["event"];
}

/**
 * Polls one account of each address at finalized, a hundred addresses in a look, with one call: the account of the
 * ordered asset, and now and then another account. When an account has changed, a window may have ended, or a
 * repetition is due, the address and all its token accounts are read in one block; the event carries this reading and
 * the clock of the block. An event is sent only when the balances have changed or the window has ended: a thousand
 * quiet addresses cost the database nothing. Held addresses get no event. Before the end of a window is reported, the
 * watch makes sure that nobody else paid out of the address: an order that another copy of this database has served did
 * not fail. While an endpoint reports a deposit that too few others show, the window stays open. Deposits are reported
 * before any ending window is examined.
 */
export class DepositWatch implements Watcher {
  readonly intervalMs: number;
  readonly batchSize = ADDRESSES_A_LOOK;
  readonly #with: DepositWatchParts;
  readonly #mints: readonly Address[];
  readonly #memory: AddressMemory;
  readonly #kind: string;

  constructor(
    parts: DepositWatchParts,
    { kind, intervalMs }: { readonly kind: string; readonly intervalMs: number },
  ) {
    this.#with = parts;
    this.#kind = kind;
    this.intervalMs = intervalMs;
    this.#mints = parts.assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
    this.#memory = new AddressMemory(Math.max(FORGET_AFTER_MS, intervalMs));
  }

  roundMs(watched: number): number {
    const { batchSize, intervalMs } = this;
    return this.#with.budget.roundMs({ kind: this.#kind, watched, batchSize, intervalMs });
  }

  /** Its window is about to end, or is over by our clock and the order has not been told. */
  isUrgent({ key }: WatchRecord): boolean {
    const known = this.#memory.peek(key);
    return known !== undefined && !known.isSaidOver && known.endsAt - this.#with.clock.now() <= ENDING_MS;
  }

  async poll(watches: readonly WatchRecord[], look: PollContext): ReturnType<Watcher["poll"]> {
    const { clock, names } = this.#with;
    const addresses = await this.#rememberedOf(watches.map(({ key }) => key));
    await lookAtOneAccount(this.#with, addresses);
    const now = clock.now();
    const due = await this.#free(addresses.filter((watched) => isToBeRead(watched, now)));
    const shown = await this.#readInFull(due);
    const richer = shown.filter(hasCome);
    const telling = new DepositEventBatch(watches, look);
    await telling.tell(shown.filter(({ isOver }) => !isOver));
    const ends = shown.filter(({ isOver }) => isOver).toSorted((a, b) => a.watched.endsAt - b.watched.endsAt);
    const left = await inLanes({ lanes: ENDS_AT_ONCE, signal: look.signal }, ends, async (each) => {
      const isTold = await this.#isUndisputed(each).catch(unlessSilent);
      if (isTold === true) await telling.tell([each]);
      if (isTold === null) telling.missed([each]);
    });
    telling.missed(left);
    for (const { watched } of richer) names.note(watched);
    await names.work(look.signal);
    return [];
  }

  /** The memory of these addresses, in order; begun for addresses that were not watched a moment ago. */
  async #rememberedOf(keys: readonly string[]): Promise<readonly WatchedAddress[]> {
    const { storage, clock, assets } = this.#with;
    const memory = this.#memory;
    memory.age(clock.now());
    const unknown = keys.filter((key) => memory.of(key) === undefined);
    const deposits = unknown.length === 0 ? [] : await storage.deposits(unknown);
    for (const deposit of deposits) memory.keep(watchedAddress(deposit, assets));
    return keys.map((key) => memory.of(key)).filter((watched) => watched !== undefined);
  }

  /** Filters addresses that are not held. */
  async #free(due: readonly WatchedAddress[]): Promise<readonly WatchedAddress[]> {
    const { storage } = this.#with;
    const rows = due.length === 0 ? [] : await storage.deposits(due.map(({ address }) => address));
    const ids = new Set(rows.filter(({ heldReason }) => heldReason === null).map(({ id }) => id));
    return due.filter(({ address }) => ids.has(address));
  }

  /** Reads these addresses in full; returns the addresses that have an event. */
  async #readInFull(addresses: readonly WatchedAddress[]): Promise<readonly Shown[]> {
    if (addresses.length === 0) return [];
    const { ledger, assets } = this.#with;
    const asked = addresses.map(({ address }) => address);
    const { slot, blockTime, funds } = await ledger.funds(asked, this.#mints, "finalized");
    return addresses.flatMap((watched, index): Shown[] => {
      const held = funds[index];
      if (held === undefined) return [];
      const amounts = creditedAmounts(held);
      const byMint = assets.tokens.map(({ mint }, position) => [mint, String(amounts[position])]);
      const balances = Object.fromEntries(byMint) as Readonly<Record<string, string>>;
      const event = { type: "BALANCES_READ", slot, blockTime: blockTime * 1_000, balances };
      const isPastEnd = blockTime * 1_000 > watched.endsAt;
      const isDisputed = isPastEnd && this.#isDisputed(watched.address, held);
      const shown = {
        watched,
        amounts,
        isOver: isPastEnd && !isDisputed,
        event: isDisputed ? { ...event, isDisputed } : event,
      };
      if (isNews(shown) || isToBeSaidAgain(watched)) return [shown];
      watched.hasChanged = false;
      return [];
    });
  }

  /**
   * Whether an endpoint tells of a deposit that too few others show. A smaller difference is dust on its way, which a
   * stranger could send in each block.
   */
  #isDisputed(address: string, held: Evidence<FundsReading["funds"][number]>): boolean {
    const { assets, disputes } = this.#with;
    const { claimed = [] } = held;
    const amounts = creditedAmounts(held);
    const isDisputed = assets.tokens.some(
      (asset, index) => (claimed[index] ?? 0n) - (amounts[index] ?? 0n) >= smallestAmount(asset),
    );
    const subject = `the money at deposit address ${address}`;
    if (isDisputed) disputes.note(subject);
    else disputes.end(subject);
    return isDisputed;
  }

  /**
   * Whether the event may be reported now. An address that no longer waits has no end of a window: settling looks at
   * the chain again.
   */
  async #isUndisputed({ watched: { address }, isOver }: Shown): Promise<boolean> {
    const { storage, spendingCheck } = this.#with;
    const doubt = isOver ? await spendingCheck(address) : null;
    if (doubt !== null) await holdAddress(storage, address, doubt);
    return doubt === null;
  }
}

/** Reports the events of one look, and the addresses that the look could not read. */
class DepositEventBatch {
  readonly #byAddress: ReadonlyMap<string, WatchRecord>;
  readonly #look: PollContext;

  constructor(watches: readonly WatchRecord[], look: PollContext) {
    this.#byAddress = new Map(watches.map((watch): [string, WatchRecord] => [watch.key, watch]));
    this.#look = look;
  }

  /** Reports events. An event that could not be delivered is reported again at the next look. */
  async tell(those: readonly Shown[]): Promise<void> {
    const told = those.map((each) => ({ instance: this.#instanceOf(each), event: each.event }));
    const untold = new Set((await this.#look.tell(told)).map(({ instance }) => instance));
    for (const each of those) if (!untold.has(this.#instanceOf(each))) remember(each);
  }

  missed(those: readonly Shown[]): void {
    this.#look.missed(those.flatMap(({ watched: { address } }) => this.#byAddress.get(address) ?? []));
  }

  #instanceOf({ watched: { address } }: Shown): string {
    return this.#byAddress.get(address)?.instance ?? address;
  }
}

/** Remembers watched addresses: an address that was not asked for during a whole period is dropped. */
class AddressMemory {
  readonly #periodMs: number;
  #young = new Map<string, WatchedAddress>();
  #old = new Map<string, WatchedAddress>();
  #agesAt = 0;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Drops addresses that were not asked for since the previous period began. */
  age(now: number): void {
    if (now < this.#agesAt) return;
    this.#agesAt = now + this.#periodMs;
    this.#old = this.#young;
    this.#young = new Map();
  }

  of(address: string): WatchedAddress | undefined {
    const young = this.#young.get(address);
    if (young !== undefined) return young;
    const old = this.#old.get(address);
    if (old !== undefined) this.keep(old);
    return old;
  }

  /** Does not count as a look. */
  peek(address: string): WatchedAddress | undefined {
    return this.#young.get(address) ?? this.#old.get(address);
  }

  keep(watched: WatchedAddress): void {
    this.#young.set(watched.address, watched);
  }
}

/** Silence about one address must not stop the look at other addresses. */
function unlessSilent(error: unknown): null {
  if (error instanceof LedgerUnavailable) return null;
  throw error;
}

/**
 * Whether an address is due for a full reading, by our own clock, which only decides when to ask the chain's clock.
 */
function isToBeRead(watched: WatchedAddress, now: number): boolean {
  return watched.hasChanged || (now > watched.endsAt && !watched.isSaidOver) || isToBeSaidAgain(watched);
}

function isToBeSaidAgain({ looks, saidAtLook, isSaidOver, said }: WatchedAddress): boolean {
  return looks - saidAtLook >= LOOKS_UNTIL_SAID_AGAIN && (isSaidOver || said.some((amount) => amount > 0n));
}

function isNews({ watched: { said, isSaidOver }, amounts, isOver }: Shown): boolean {
  return isOver !== isSaidOver || amounts.some((amount, asset) => amount !== (said[asset] ?? 0n));
}

/** Whether there is more of an asset than was told before. */
function hasCome({ watched: { said }, amounts }: Shown): boolean {
  return amounts.some((amount, asset) => amount > (said[asset] ?? 0n));
}

function remember({ watched, amounts, isOver }: Shown): void {
  watched.hasChanged = false;
  watched.said = amounts;
  watched.isSaidOver = isOver;
  watched.saidAtLook = watched.looks;
}
