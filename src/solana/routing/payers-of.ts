/** Reads whose money came to an address, from every transaction that names an account of the address. */
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { InflowHistory, PayerQuery } from "../../ledger/routing.ts";
import { follows } from "../agree.ts";
import { askOne, type NodeContext, type EndpointCall } from "../ask.ts";
import { withRole, type Endpoint } from "../endpoint.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import type { TransactionListEntry } from "../rpc/rpc-node.ts";
import { inflowsIn, type TransactionChange } from "./attribute-inflows.ts";
import { landedChanges } from "./landed-changes.ts";
import type { ListReading, ListWindow, PayerReading } from "./payer-reading-cache.ts";
import { inBatches } from "./signed-by.ts";

// Lists and transactions, each of which every endpoint is asked for. A stranger who floods an address pays the chain for
// each transaction; we read each once.
const MAX_READS_PER_LOOK = 1_000;
// The transactions of a page are all read before the next one is asked for.
const PAGE = 100;
const ACCOUNTS_AT_ONCE = 8;

/** The owner and mints of a search for payers, and its limits. */
interface PayersQuery {
  readonly owner: Address;
  readonly mints: readonly Address[];
  readonly search: PayerQuery;
}

/**
 * See `RoutingLedger.payersOf`. Accounts out of which the owner itself paid are looked at too: an account that was emptied
 * may be gone by now, and its history is still listed.
 */
export async function payersOf(
  nodes: NodeContext,
  { owner, mints, search }: PayersQuery,
): Promise<Evidence<InflowHistory>> {
  const reading = nodes.payers.of([owner, ...mints].join(" "), nodes.witnesses);
  reading.add([owner, ...mints.map((mint) => associatedTokenAccount(owner, mint)), ...search.accounts]);
  const look = new Look(nodes, reading, { owner, mints });
  for (;;) {
    const accounts = look.unread().slice(0, ACCOUNTS_AT_ONCE);
    if (accounts.length === 0) return payersIn(reading, true);
    if (look.reads >= MAX_READS_PER_LOOK) return payersIn(reading, false);
    await look.read(accounts);
    const isEnough = search.after === undefined || !look.hasMoreAfter(search.after);
    if (isEnough && search.isExplained(reading.inflows)) return payersIn(reading, true);
  }
}

function payersIn({ inflows }: PayerReading, isWhole: boolean): Evidence<InflowHistory> {
  return follows(inflows, () => ({ inflows, isWhole }));
}

interface Page {
  readonly list: ListReading;
  readonly stretch: ListWindow;
  readonly listed: readonly TransactionListEntry[];
}

/** A look at the histories of an owner's accounts, which continues the look before. */
class Look {
  reads = 0;
  readonly #nodes: NodeContext;
  readonly #reading: PayerReading;
  readonly #of: Pick<PayersQuery, "owner" | "mints">;
  readonly #opened = new Set<Address>();
  /** The lists whose endpoint did not answer: its silence is no contradiction. */
  readonly #silent = new Set<ListReading>();
  /** Signatures that were read: a transaction may be listed for several accounts. */
  readonly #read = new Set<string>();

  constructor(nodes: NodeContext, reading: PayerReading, of: Pick<PayersQuery, "owner" | "mints">) {
    this.#nodes = nodes;
    this.#reading = reading;
    this.#of = of;
  }

  /** The accounts of which something is left to read, the one read longest ago first. */
  unread(): readonly Address[] {
    return this.#reading.accounts.filter(
      (account) => !this.#opened.has(account) || this.#lists(account).some(([, list]) => this.#hasMore(list)),
    );
  }

  /** Whether a transaction of a later slot may be left to read, in the list of any endpoint that answers. */
  hasMoreAfter(slot: number): boolean {
    return this.#reading.accounts.some(
      (account) =>
        !this.#opened.has(account) ||
        this.#lists(account).some(([, list]) => this.#hasMore(list) && list.hasMoreAfter(slot)),
    );
  }

  /** Reads a page of each account at each endpoint, and the transactions in it. What any endpoint lists counts. */
  async read(accounts: readonly Address[]): Promise<void> {
    const pages = (await Promise.all(accounts.map((account) => this.#pagesOf(account)))).flat();
    // A transaction that one endpoint lists as failed is still read when any endpoint lists it as successful.
    const landed = pages.flatMap((page) => page.listed.filter(({ err }) => err === null));
    const unread = [...new Map(landed.map((each) => [each.signature, each])).values()].filter(
      ({ signature }) => !this.#read.has(signature) && !this.#reading.has(signature),
    );
    for (const changes of await inBatches(unread, (each) => landedChanges(this.#nodes, each))) {
      this.#keep(changes);
    }
    // A stretch is passed when all of it is known: a look that fails before is repeated from there.
    for (const { list, stretch, listed: page } of pages) list.passed(stretch, page, page.length >= PAGE);
    for (const account of accounts) this.#reading.postpone(account);
    this.reads += accounts.length + unread.length;
  }

  #keep(changes: Evidence<TransactionChange>): void {
    const { owner, mints } = this.#of;
    this.#read.add(changes.signature);
    this.#reading.keep(
      changes.signature,
      follows(changes, () => inflowsIn(owner, [null, ...mints], changes)),
    );
    this.#reading.add(accountsPaidFrom(owner, mints, changes));
  }

  /** The next page of each endpoint that answers. Throws the reason where none does. */
  async #pagesOf(account: Address): Promise<readonly Page[]> {
    if (!this.#opened.has(account)) for (const [, list] of this.#lists(account)) list.open();
    this.#opened.add(account);
    const open = this.#lists(account).filter(([, list]) => this.#hasMore(list));
    const pages = await Promise.allSettled(
      open.map(([endpoint, list]) => this.#page(account, endpoint, list)),
    );
    const failed = pages.find((page) => page.status === "rejected");
    const isSilent = this.#lists(account).every(([, list]) => this.#silent.has(list));
    if (isSilent && failed !== undefined) throw failed.reason;
    return pages.flatMap((page) => (page.status === "fulfilled" ? (page.value ?? []) : []));
  }

  async #page(account: Address, endpoint: Endpoint, list: ListReading): Promise<Page | null> {
    const stretch = list.next();
    if (stretch === undefined) return null;
    try {
      const listed = await askOne(this.#nodes, endpoint, pageOf(account, stretch));
      return { list, stretch, listed };
    } catch (error) {
      this.#silent.add(list);
      throw error;
    }
  }

  #lists(account: Address): readonly (readonly [Endpoint, ListReading])[] {
    return withRole(this.#nodes.endpoints, "witness").map((endpoint) => [
      endpoint,
      this.#reading.listOf(account, endpoint.name),
    ]);
  }

  #hasMore(list: ListReading): boolean {
    return list.hasMore && !this.#silent.has(list);
  }
}

function pageOf(
  account: Address,
  { latest: _, ...stretch }: ListWindow,
): EndpointCall<readonly TransactionListEntry[]> {
  return ({ rpc }) => rpc.getSignaturesForAddress(account, { ...stretch, limit: PAGE });
}

/** Only where the owner signed: a stranger could name any number of accounts. */
function accountsPaidFrom(
  owner: Address,
  mints: readonly Address[],
  { signers, tokens }: TransactionChange,
): readonly Address[] {
  if (!signers.includes(owner)) return [];
  return tokens
    .filter((each) => each.owner === owner && mints.includes(each.mint))
    .map(({ account }) => account);
}
