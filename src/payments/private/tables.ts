/** Tables of private mode: terms, facts of the chain, and transfers. */
import type { Address } from "../../core/address.ts";
import type { TransferKind } from "../../../machines/transfer.ts";
import { column, ownTable, type Row } from "../../../storage/table.ts";
import type { AttemptLeg } from "../frame/tables/attempts.ts";
import { transactionViews, type TransactionView } from "../frame/tables/orders.ts";
import { rowOf, type TableReader, rowsOf } from "../frame/tables/read.ts";

/** An end that is decided here before it is told: nothing else counts from then on. */
export interface ClosingOrder {
  readonly status: "failed" | "cancelled";
  readonly reason: string | null;
}

/** Orders, one for each transaction of private mode, under its id. Terms never change once they are stored. */
const orders = ownTable("orders", {
  columns: {
    id: "text",
    /** Grows with each change of the row: what was concluded from an older one is not committed. */
    version: "integer",
    layout: column<1>("integer"),
    accountId: "text",
    /** The one-time address. No key is stored: it is derived of the master secret, the genesis hash and the id. */
    address: column<Address>("text"),
    masterVersion: "integer",
    /** The associated token account of each token of the service at the address, by mint. */
    accounts: column<Readonly<Record<string, Address>>>("json"),
    /** The key that a Solana Pay request for the address names. */
    referenceKey: column<Address>("text"),
    type: column<"send" | "swap" | "payroll">("text"),
    sender: column<Address>("text"),
    sponsor: column<Address>("text"),
    treasury: column<Address>("text"),
    /** The deposited asset and its amount, in base units; SOL is its wrapped mint. */
    mint: column<Address>("text"),
    required: "amount",
    /** The treasury's share of the go, in base units of `mint`. */
    fee: "amount",
    /** Lamports that each transaction may bid out of what the quote has asked for. */
    paidBid: "amount",
    /** How many recipients each chunk has. */
    cut: column<readonly number[]>("json"),
    /** Indexes of the recipients whose token accounts the quote has priced. */
    priced: column<readonly number[]>("json"),
    /** Lamports of rent a byte when the order was taken, and as a person's `retry` has taken it since. */
    rentPerByte: "amount",
    rentTaken: "amount",
    /** The transaction that gave the loan back; null while none did. */
    loanBack: "text?",
    /** The slot from which on its history is listed the next time. */
    listedTo: "integer",
    /** The end of the deposit window, on the chain's clock. */
    windowEnds: "integer",
    /** The end of the wait for the deposit: funded, cancelled or over. */
    waitEndedAt: "integer?",
    state: column<"waiting" | "deciding" | "paying" | "refusing" | "over">("text"),
    overState: column<"idle" | "refusing" | "paying" | "resting" | null>("text?"),
    /** Why the order was refused, as a caller is told; null while it was not. */
    reason: "text?",
    /** The last block height at which a go can land that is not stored here, by the first look since it is refused; else null. */
    lastGoHeight: "integer?",
    ends: column<ClosingOrder | null>("json?"),
    createdAt: "integer",
  },
  unique: ["address"],
  indexes: { waiting: ["accountId", "waitEndedAt"] },
  group: { by: ["accountId"], open: "waitEndedAt" },
});

export interface OrderRecord extends Row<typeof orders> {}

/** Chunks of orders. `id` is the order's and the chunk's number. */
const chunks = ownTable("chunks", {
  columns: {
    id: "text",
    order: "text",
    k: "integer",
    /** The length of the marker that this copy makes: the outcome that it wants. */
    wanted: "integer",
    /** The length of the marker that stands at finalized, since `slot`; null while none does. */
    length: "integer?",
    slot: "integer?",
    /** The transaction that made the marker, if it is known. */
    signature: "text?",
    blockTime: "integer?",
    /** Members that a marker of another copy has paid, told by its own transactions; null if its length tells. */
    paid: column<readonly number[] | null>("json?"),
    /** Whether the marker was made by an attempt of this copy; of another's, whether it has lent. */
    isOwn: "boolean",
    isLent: "boolean",
    /** Lamports of the address that made token accounts of its recipients, by its own receipt; 0 until a shortage has it read. */
    opened: "amount",
    /** The slot of the first reading that has not the marker of the row; null while readings have it. */
    goneAt: "integer?",
  },
  indexes: { ofOrder: ["order", "k"] },
});

export interface ChunkRecord extends Row<typeof chunks> {}

/** One thing to send out of an order's address; its chart has the same id. */
const transfers = ownTable("transfers", {
  columns: {
    id: "text",
    order: "text",
    kind: column<TransferKind>("text"),
    /** The number of the chunk, or of the redirect; the count of rests. */
    n: "integer",
    mint: "text?",
    to: column<Address | null>("text?"),
    /** Token accounts that a `collect` or a `foreign` empties. */
    subjects: column<readonly string[]>("json"),
    state: column<"planned" | "out" | "done" | "ended">("text"),
    /** Nothing is signed before; why it was put off, for the operator's list. */
    notBefore: "integer?",
    reason: "text?",
    /** Reservations of a swap's desk, for the newest attempt. */
    reserved: column<readonly string[]>("json"),
    /** The transaction that landed: an attempt, or of an act another copy's, whose legs its receipt has told. */
    signature: "text?",
    legs: column<readonly AttemptLeg[] | null>("json?"),
    /** Further attempts of it that landed: endpoints had not shown the first one in time. */
    alsoLanded: column<readonly string[]>("json"),
    landedAt: "integer?",
    stuckSince: "integer?",
    createdAt: "integer",
  },
  indexes: {
    ofOrder: ["order", "createdAt", "id"],
    stuck: { on: ["stuckSince", "id"], present: ["stuckSince"] },
    putOff: { on: ["reason", "notBefore", "id"], present: ["reason"] },
  },
});

export interface TransferRecord extends Row<typeof transfers> {}

/** The received and spent sum of each asset of the service, by final readings. */
const levels = ownTable("levels", {
  columns: {
    id: "text",
    order: "text",
    mint: "text",
    received: "amount",
    /** The sums of booked rests and redirects, with their costs; markers tell the chunks' part. */
    out: "amount",
    /** The sum that a person has concluded to be lost. */
    writtenOff: "amount",
    /** No reading of an earlier slot counts. */
    slot: "integer",
    /** Whether the last reading showed less than is explained, as long as anything is missing; how much is told as missing. */
    short: "boolean",
    missing: "amount",
  },
  indexes: {
    ofOrder: ["order", "mint"],
    short: { on: ["id"], where: { short: true } },
  },
});

export interface LevelRecord extends Row<typeof levels> {}

/** Deposits, each of one transaction and asset, or of a token account that does not count. */
const deposits = ownTable("deposits", {
  columns: {
    id: "text",
    order: "text",
    mint: "text",
    amount: "amount",
    /** The wallet that gave all of it; null if the chain does not tell one. */
    payer: column<Address | null>("text?"),
    signature: "text?",
    slot: "integer?",
    at: "integer",
    /** For a foreign mint, on one node's word; null while unknown. */
    decimals: "integer?",
    /** The token account, if the money is not in an associated one: then it does not count. */
    account: column<Address | null>("text?"),
    /** When what does not count has left. */
    leftAt: "integer?",
  },
  indexes: {
    ofOrder: ["order", "at", "id"],
    uncounted: { on: ["at", "id"], where: { leftAt: null }, present: ["account"] },
  },
});

export interface DepositRecord extends Row<typeof deposits> {}

/** Reasons why nothing that pays is signed for an order until a person has looked. */
const holds = ownTable("holds", {
  columns: {
    id: "text",
    order: "text",
    reason: "text",
    since: "integer",
    endedAt: "integer?",
    /**
     * The sums at a person's release, in base units by mint: payers of it stay released. Null while it is open, and where no
     * hold of screening ended with it.
     */
    covers: column<Readonly<Record<string, string>> | null>("json?"),
  },
  indexes: {
    ofOrder: ["order", "since", "id"],
    open: { on: ["since", "id"], where: { endedAt: null } },
  },
});

export interface HoldRecord extends Row<typeof holds> {}

/** Money that persons send to somebody else than the sender: fixed when it is approved. `id` is the order's and `r n`. */
const acts = ownTable("acts", {
  columns: {
    id: "text",
    order: "text",
    n: "integer",
    mint: column<Address>("text"),
    /** The most that is sent, in base units. */
    sum: "amount",
    to: column<Address>("text"),
    approvedBy: column<readonly string[]>("json"),
    approvedAt: "integer",
    state: column<"open" | "done" | "superseded" | "ended">("text"),
  },
  indexes: { ofOrder: ["order", "n"] },
});

export interface ActRecord extends Row<typeof acts> {}

/** The stub of an order whose rows were removed as old: enough to find what still comes to its address, and send it back. */
const orderStubs = ownTable("orderStubs", {
  columns: {
    id: "text",
    address: column<Address>("text"),
    masterVersion: "integer",
    createdAt: "integer",
    layout: column<1>("integer"),
    sender: column<Address>("text"),
    mint: column<Address>("text"),
    /** How many chunks it had. */
    chunks: "integer",
    rentPerByte: "amount",
    windowEnds: "integer",
    loanBack: "text?",
    /** The final status. */
    status: "text",
  },
  unique: ["address"],
  settled: true,
});

export interface OrderStubRecord extends Row<typeof orderStubs> {}

/** An order of private mode with all that its readers are shown. */
export interface OrderView {
  readonly order: OrderRecord;
  readonly chunks: readonly ChunkRecord[];
  readonly transfers: readonly TransferRecord[];
  readonly levels: readonly LevelRecord[];
  readonly deposits: readonly DepositRecord[];
  readonly holds: readonly HoldRecord[];
  readonly acts: readonly ActRecord[];
}

export const privateTables = { orders, chunks, transfers, levels, deposits, holds, acts, orderStubs };

/** A transaction with its order; null in wallet mode. */
export interface OrderedTransaction extends TransactionView {
  readonly order: OrderView | null;
}

export const privateReads = (read: TableReader) => ({
  order: (id: string) => rowOf(read, orders, id),
  orders: (ids: readonly string[]) => rowsOf(read, orders, ids),
  async orderAt(address: Address): Promise<OrderRecord | null> {
    const [found = null] = await read.find({
      table: orders,
      index: "address",
      anyOf: ["address", [address]],
    });
    return found;
  },
  /** The addresses of orders, and of removed orders. */
  async depositAddresses(addresses: readonly string[]): Promise<readonly Address[]> {
    const asked = { index: "address", anyOf: ["address", addresses] } as const;
    const [kept, gone] = await Promise.all([
      read.find({ table: orders, ...asked }),
      read.find({ table: orderStubs, ...asked }),
    ]);
    return [...kept, ...gone].map(({ address }) => address);
  },
  /** Up to `limit` orders by ascending id, the first one above `after`. */
  ordersAfter: (after: string, limit: number) =>
    read.find({ table: orders, index: "key", after: [after], limit }),
  /** The stub of a removed order. */
  orderStub: (id: string) => rowOf(read, orderStubs, id),
  transfer: (id: string) => rowOf(read, transfers, id),
  /** Orders with everything that belongs to them, in the order given; those that are gone are left out. */
  orderViews: (ids: readonly string[]) => viewsOf(read, ids),
  async orderedTransaction(id: string): Promise<OrderedTransaction | null> {
    const [view = null] = await orderedTransactions(read, [id]);
    return view;
  },
  /** Transactions with their orders, in the order given; those that are gone are left out. */
  orderedTransactions: (ids: readonly string[]) => orderedTransactions(read, ids),
  /** Up to `limit` transfers that were put off for this reason. */
  putOffTransfers: (reason: string, limit: number) =>
    read.find({ table: transfers, index: "putOff", equals: { reason }, limit }),
  /** Up to `limit` levels that showed less than is explained. */
  shortLevels: (limit: number) => read.find({ table: levels, index: "short", limit }),
  /** Up to `limit` deposits that do not count and have not left, the oldest first; behind `last` if it is given. */
  uncountedDeposits(limit: number, last?: Pick<DepositRecord, "at" | "id">) {
    const after = last === undefined ? {} : { after: [last.at, last.id] };
    return read.find({ table: deposits, index: "uncounted", ...after, limit });
  },
  /** Up to `limit` transfers that are stuck, the longest first. */
  stuckTransfers: (limit: number) => read.find({ table: transfers, index: "stuck", limit }),
  /** Up to `limit` holds that no person has ended, the oldest first; behind `last` if it is given. */
  openHolds(limit: number, last?: Pick<HoldRecord, "since" | "id">) {
    const after = last === undefined ? {} : { after: [last.since, last.id] };
    return read.find({ table: holds, index: "open", ...after, limit });
  },
});

async function viewsOf(read: TableReader, ids: readonly string[]): Promise<readonly OrderView[]> {
  const ofAny = { index: "ofOrder", anyOf: ["order", ids] } as const;
  // All reads are asked for in one turn, and so see the same state.
  const [found, parts, sent, sums, came, held, acted] = await Promise.all([
    rowsOf(read, orders, ids),
    read.find({ table: chunks, ...ofAny }),
    read.find({ table: transfers, ...ofAny }),
    read.find({ table: levels, ...ofAny }),
    read.find({ table: deposits, ...ofAny }),
    read.find({ table: holds, ...ofAny }),
    read.find({ table: acts, ...ofAny }),
  ]);
  const of = <R extends { readonly order: string }>(rows: readonly R[], id: string): readonly R[] =>
    rows.filter(({ order }) => order === id);
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const order = byId.get(id);
    if (order === undefined) return [];
    return [
      {
        order,
        chunks: of(parts, id),
        transfers: of(sent, id),
        levels: of(sums, id),
        deposits: of(came, id),
        holds: of(held, id),
        acts: of(acted, id),
      },
    ];
  });
}

async function orderedTransactions(
  read: TableReader,
  ids: readonly string[],
): Promise<readonly OrderedTransaction[]> {
  // All reads are asked for in one turn, and so see the same state.
  const [views, own] = await Promise.all([transactionViews(read, ids), viewsOf(read, ids)]);
  const orderOf = new Map(own.map((view) => [view.order.id, view]));
  return views.map((view) => ({ ...view, order: orderOf.get(view.transaction.id) ?? null }));
}
