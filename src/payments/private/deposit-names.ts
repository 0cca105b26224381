/**
 * Names the transactions that brought deposits, by the key that an order's Solana Pay request tells wallets to name, and the
 * wallets that paid. What one endpoint lists under the key is a hint, which anybody can place there: evidence tells whether
 * a transaction has paid in.
 */
import { commitOne } from "../../../storage/decided.ts";
import type { Address } from "../../address.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import { ledgerMint } from "../assets/assets.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { inLanes } from "../semaphore.ts";
import type { EntryRecord } from "../tables/deposits.ts";
import { findPayers, type DepositPayerParts } from "./deposit-payers.ts";
import type { WatchedAddress } from "./look-at-account.ts";

/** Addresses that are named at once: each costs a few calls, and more where the key was used. */
const LANES = 4;
/** Addresses that are named in one look at deposits, whose next look waits for it. */
const MOST_IN_A_LOOK = 20;
/** An endpoint may list a transaction a moment after others show its money; most wallets name no key at all. */
const TRIES = 2;
/** Transactions that are read for the names of one address: whoever was shown its key can name the key again and again. */
const MAX_READ = 20;
/** More money than that comes in at once without names. */
const MAX_REMEMBERED = 10_000;

/** A deposit address where money came in, and how often its names are still looked for. */
interface Unnamed extends Pick<WatchedAddress, "address" | "referenceKey"> {
  readonly tries: number;
}

interface LookedFor {
  /** The newest entry for which no name was found. */
  readonly last: string | null;
  /** The transactions that were read. */
  readonly read: number;
}

const NOT_YET: LookedFor = { last: null, read: 0 };

/** The addresses whose deposits have no name yet; lost with the process, since a name is no fact that anything waits for. */
export class DepositNameQueue {
  readonly #with: DepositPayerParts;
  readonly #waiting = new Map<Address, Unnamed>();
  /** By address, the one looked for longest ago first. */
  readonly #lookedFor = new Map<Address, LookedFor>();

  constructor(parts: DepositPayerParts) {
    this.#with = parts;
  }

  /** There is more at an address than was told before, and its entry is stored. */
  note({ address, referenceKey }: Pick<WatchedAddress, "address" | "referenceKey">): void {
    if (this.#waiting.size >= MAX_REMEMBERED) return;
    this.#waiting.set(address, { address, referenceKey, tries: TRIES });
  }

  /** Looks for the names of those that wait, until the signal aborts. */
  async work(signal: AbortSignal): Promise<void> {
    const now = [...this.#waiting.values()].slice(0, MOST_IN_A_LOOK);
    for (const { address } of now) this.#waiting.delete(address);
    const left = await inLanes({ lanes: LANES, signal }, now, async (each) => {
      const { address, tries } = each;
      const entries = await this.#with.storage.entries(address);
      const isNamed = await this.#nameNews(each, entries);
      const arePayersKnown = await findPayers(this.#with, address, entries).catch(unlessSilent);
      if ((isNamed && arePayersKnown) || tries === 1) return;
      this.#waiting.set(address, { ...each, tries: tries - 1 });
    });
    for (const each of left) this.#waiting.set(each.address, each);
  }

  /** Whether there is nothing left to name. */
  async #nameNews(each: Unnamed, entries: readonly EntryRecord[]): Promise<boolean> {
    const { address, referenceKey, tries } = each;
    const unnamed = entries.filter(({ kind, signature }) => kind === "deposit" && signature === null);
    // Another watch sees all for the first time, and a payout is no deposit: only what is new is looked for.
    const last = unnamed.at(-1)?.id;
    const isOld = last === undefined || this.#lookedFor.get(address)?.last === last;
    if (referenceKey === null || isOld) return true;
    const isNamed = await this.#name({ address, referenceKey }, { entries, unnamed }).catch(unlessSilent);
    if (!isNamed && tries === 1) this.#remember(address, { last });
    return isNamed;
  }

  #remember(address: Address, news: Partial<LookedFor>): void {
    const known = this.#lookedFor.get(address) ?? NOT_YET;
    this.#lookedFor.delete(address);
    this.#lookedFor.set(address, { ...known, ...news });
    const [oldest] = this.#lookedFor.keys();
    if (this.#lookedFor.size > MAX_REMEMBERED && oldest !== undefined) this.#lookedFor.delete(oldest);
  }

  /** Whether each deposit of the address has a name now. */
  async #name(
    { address, referenceKey }: { readonly address: Address; readonly referenceKey: Address },
    { entries, unnamed }: { readonly entries: readonly EntryRecord[]; readonly unnamed: EntryRecord[] },
  ): Promise<boolean> {
    const { storage, ledger, assets } = this.#with;
    const known = new Set(entries.map(({ signature }) => signature));
    const holders = assets.tokens.map((asset) => ({ owner: address, mint: ledgerMint(asset) }));
    for (const signature of await ledger.listedUnder(referenceKey)) {
      const { read } = this.#lookedFor.get(address) ?? NOT_YET;
      if (read >= MAX_READ) return false;
      if (known.has(signature)) continue;
      this.#remember(address, { read: read + 1 });
      const changes = (await ledger.changesOf(signature, holders)) ?? [];
      const brought = unnamed.filter((each) =>
        assets.tokens.some(({ mint }, index) => each.mint === mint && changes[index] === each.amount),
      );
      // Of two of one amount a transaction does not say which it has brought.
      const [entry, another] = brought;
      if (entry === undefined || another !== undefined) continue;
      await commitOne(storage, { writes: [nameOf(entry, signature)] });
      unnamed.splice(unnamed.indexOf(entry), 1);
      if (unnamed.length === 0) return true;
    }
    return false;
  }
}

function nameOf({ id }: EntryRecord, signature: string): PaymentWrite {
  return { table: "entries", id, set: { signature } };
}

/** A name is looked for again, and nothing waits for it. */
function unlessSilent(error: unknown): false {
  if (error instanceof LedgerUnavailable) return false;
  throw error;
}
