/** An account's transactions in pages, newest first. */
import type { TransactionLookup, TransactionRecord } from "../tables/orders.ts";
import type { ListKey } from "../tables/read.ts";
import type { Caller } from "../accounts/caller.ts";
import { notInList, type Page } from "../page.ts";
import { transactionBodies, type TransactionParts } from "./read-transaction.ts";
import type { TransactionBody } from "./transaction-schema.ts";
import { parseRequest } from "../request-fields.ts";
import { transactionsQuery, type TransactionsQuery } from "../requests.ts";

/** Rows looked through at a time; one more than a page holds. Between two times others have a turn. */
const ROWS_AT_A_TIME = 101;
/** The most rows that one page looks through: a filter may leave one of a million. */
const MAX_ROWS_OF_A_PAGE = 1_000;
/** A page of payrolls, or of orders with many deposits, ends earlier, so that no answer grows to megabytes. */
const MAX_SUMS_IN_A_PAGE = 2_000;
/** Payrolls are read with their recipients, so many at a time. */
const PAYROLLS_AT_A_TIME = 4;

/** A query that was read; its asset is a mint. */
type Filter = ReturnType<typeof parseRequest<typeof transactionsQuery>>;

/** Matching transactions: one more than the page, if more exist. */
interface Matches {
  readonly rows: readonly TransactionRecord[];
  /** The last row that was looked at, where the look ended before the list did; else null. */
  readonly stoppedAt: ListKey | null;
}

/** See `PaymentService.listTransactions`. */
export async function listTransactions(
  deps: TransactionParts,
  { accountId }: Caller,
  { signal, ...query }: TransactionsQuery & { readonly signal?: AbortSignal } = {},
): Promise<Page<TransactionBody>> {
  const read = parseRequest(transactionsQuery, query);
  const filter = read.asset === undefined ? read : { ...read, asset: deps.assets.named(read.asset).mint };
  const below = await startOf(deps, accountId, filter);
  const { rows, stoppedAt } = await matching(deps, accountId, { filter, below, signal });
  const wanted = rows.slice(0, filter.limit);
  const data: TransactionBody[] = [];
  let sums = 0;
  for (const part of partsOf(wanted)) {
    for (const body of await transactionBodies(deps, part)) {
      sums += body.recipients.length + (body.received?.length ?? 0) + body.refunds.length;
      if (data.length > 0 && sums > MAX_SUMS_IN_A_PAGE) return { data, hasMore: true };
      data.push(body);
    }
  }
  const hasMore = stoppedAt !== null || rows.length > filter.limit;
  // All rows of a page may be gone meanwhile: no id is left to go on from.
  const place = stoppedAt ?? (data.length === 0 ? wanted.at(-1) : undefined);
  return hasMore && place !== undefined
    ? { data, hasMore, nextAfter: nextAfterOf(place) }
    : { data, hasMore };
}

/** The filters, and the start of the page. */
interface Look {
  readonly filter: Filter;
  readonly below: ListKey | null;
  readonly signal: AbortSignal | undefined;
}

async function matching({ storage }: TransactionParts, accountId: string, look: Look): Promise<Matches> {
  const { filter, signal } = look;
  const oldest = filter.createdAfter === undefined ? -Infinity : Date.parse(filter.createdAfter);
  const only = lookupOf(filter);
  const found: TransactionRecord[] = [];
  let { below } = look;
  // Where the index alone filters, the rows of the page are the first ones, but for those that go meanwhile.
  let limit = isFilteredOnce(filter) ? Math.min(filter.limit + 1, ROWS_AT_A_TIME) : ROWS_AT_A_TIME;
  for (let looked = 0; looked < MAX_ROWS_OF_A_PAGE;) {
    const rows = await storage.transactionsOf(accountId, only, { below, limit });
    looked += limit;
    const inTime = rows.filter(({ createdAt }) => createdAt >= oldest);
    found.push(...inTime.filter((row) => matches(row, filter)));
    const isLast = isPayeeList(only) ? rows.length === 0 : rows.length < limit;
    if (found.length > filter.limit || inTime.length < rows.length || isLast) {
      return { rows: found, stoppedAt: null };
    }
    below = rows.at(-1) ?? null;
    limit = ROWS_AT_A_TIME;
    await new Promise(setImmediate);
    // The page of a caller who has gone ends early: an error would be the service's, in its log and in its metrics.
    if (signal?.aborted === true) break;
  }
  return { rows: found, stoppedAt: below };
}

/** The list of recipients is read before their transactions, so an order may be gone meanwhile. */
const isPayeeList = (only: TransactionLookup | null): boolean => only !== null && "recipient" in only;

/** Filters that a row alone fits or not, the most selective one first. */
const OF_ROW = ["quoteId", "refundOf", "reference", "sender", "status", "type", "mode"] as const;

/** Most rows have one of the three assets: that filter has no index. */
const isFilteredOnce = ({ asset, recipient, ...filter }: Filter): boolean => {
  const given = [recipient, ...OF_ROW.map((field) => filter[field])].filter((each) => each !== undefined);
  return asset === undefined && given.length <= 1;
};

/** The most selective filter; the other filters are applied to its result. */
function lookupOf(filter: Filter): TransactionLookup | null {
  const { recipient, quoteId, refundOf, reference, sender, status, type, mode } = filter;
  // First, since no row tells whom it pays.
  if (recipient !== undefined) return { recipient };
  if (quoteId !== undefined) return { quoteId };
  if (refundOf !== undefined) return { refundOf };
  if (reference !== undefined) return { reference };
  if (sender !== undefined) return { sender };
  if (status !== undefined) return { status };
  if (type !== undefined) return { type };
  return mode === undefined ? null : { mode };
}

function matches(row: TransactionRecord, { asset, ...filter }: Filter): boolean {
  const isOfAsset = asset === undefined || row.inputMint === asset || row.outputMint === asset;
  return isOfAsset && OF_ROW.every((field) => filter[field] === undefined || row[field] === filter[field]);
}

/** In their order, with few payrolls in each part: one may have hundreds of recipients. */
export function* partsOf(rows: readonly TransactionRecord[]): Generator<readonly TransactionRecord[]> {
  let part: TransactionRecord[] = [];
  for (const row of rows) {
    part.push(row);
    if (part.filter(({ type }) => type === "payroll").length < PAYROLLS_AT_A_TIME) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** The place below which the page begins. */
async function startOf(
  { storage }: TransactionParts,
  accountId: string,
  { createdBefore, startingAfter }: Filter,
): Promise<ListKey | null> {
  // No id is empty, so that nothing of this very time lies below.
  const before = createdBefore === undefined ? null : { createdAt: Date.parse(createdBefore), id: "" };
  if (startingAfter === undefined) return before;
  const after = placeOf(startingAfter) ?? (await storage.transaction(startingAfter))?.transaction;
  if (after === undefined || ("accountId" in after && after.accountId !== accountId)) {
    throw notInList("transaction");
  }
  return before === null || after.createdAt < before.createdAt ? after : before;
}

/** A place in the list as `nextAfter` tells it: its row may be gone when it is asked for. It says nothing about whose it is. */
const nextAfterOf = ({ createdAt, id }: ListKey): string => `after_${createdAt}_${id}`;

function placeOf(text: string): ListKey | undefined {
  const [, createdAt, id = ""] = /^after_(\d{1,15})_(tx_\w+)$/.exec(text) ?? [];
  return createdAt === undefined ? undefined : { createdAt: Number(createdAt), id };
}
