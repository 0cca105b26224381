/** An account's transactions in pages, newest first. */
import type { TransactionRecord, TransactionLookup } from "../tables/orders.ts";
import type { ListKey } from "../tables/read.ts";
import type { Caller } from "../accounts/caller.ts";
import { notInList, type Page } from "../page.ts";
import { transactionBody, type TransactionBody, type TransactionParts } from "./read-transaction.ts";
import { parseRequest, transactionsQuery, type TransactionsQuery } from "../requests.ts";

/** Rows looked through at a time. Between two times others have a turn: a filter may leave one of a million. */
const ROWS_AT_A_TIME = 101;
/** A page of payrolls ends earlier, so that no answer grows to megabytes. */
const MAX_RECIPIENTS_IN_A_PAGE = 2_000;

/** A query that was read. */
type Filter = ReturnType<typeof parseRequest<typeof transactionsQuery>>;

/** See `PaymentService.listTransactions`. */
export async function listTransactions(
  deps: TransactionParts,
  { accountId }: Caller,
  query: TransactionsQuery = {},
): Promise<Page<TransactionBody>> {
  const filter = parseRequest(transactionsQuery, query);
  const found = await matching(deps, accountId, filter);
  const data: TransactionBody[] = [];
  let recipients = 0;
  for (const { id } of found.slice(0, filter.limit)) {
    const view = await deps.storage.transaction(id);
    if (view === null) continue;
    recipients += view.recipients.length;
    if (data.length > 0 && recipients > MAX_RECIPIENTS_IN_A_PAGE) return { data, hasMore: true };
    data.push(await transactionBody(deps, view));
  }
  return { data, hasMore: found.length > filter.limit };
}

/** One more than the page holds, where there is one. */
async function matching(
  { storage }: TransactionParts,
  accountId: string,
  filter: Filter,
): Promise<readonly TransactionRecord[]> {
  const found: TransactionRecord[] = [];
  const only = lookupOf(filter);
  let below = await startOf({ storage }, accountId, filter);
  for (;;) {
    const rows = await storage.transactionsOf(accountId, only, { below, limit: ROWS_AT_A_TIME });
    for (const row of rows) {
      if (filter.createdAfter !== undefined && row.createdAt <= Date.parse(filter.createdAfter)) return found;
      if (matches(row, filter)) found.push(row);
      if (found.length > filter.limit) return found;
    }
    below = rows.at(-1) ?? null;
    if (rows.length < ROWS_AT_A_TIME) return found;
    await new Promise(setImmediate);
  }
}

/** The filter that leaves the fewest; the others are applied to what it leaves. */
function lookupOf({ recipient, reference, status }: Filter): TransactionLookup | null {
  if (recipient !== undefined) return { recipient };
  if (reference !== undefined) return { reference };
  return status === undefined ? null : { status };
}

function matches(row: TransactionRecord, { status, type, mode, reference }: Filter): boolean {
  return (
    (status === undefined || row.status === status) &&
    (type === undefined || row.type === type) &&
    (mode === undefined || row.mode === mode) &&
    (reference === undefined || row.reference === reference)
  );
}

/** The place below which the page begins. */
async function startOf(
  { storage }: Pick<TransactionParts, "storage">,
  accountId: string,
  { createdBefore, startingAfter }: Filter,
): Promise<ListKey | null> {
  // No id is empty, so that nothing of this very time lies below.
  const before = createdBefore === undefined ? null : { createdAt: Date.parse(createdBefore), id: "" };
  if (startingAfter === undefined) return before;
  const after = (await storage.transaction(startingAfter))?.transaction;
  if (after === undefined || after.accountId !== accountId) {
    throw notInList("transaction");
  }
  return before === null || after.createdAt < before.createdAt ? after : before;
}
