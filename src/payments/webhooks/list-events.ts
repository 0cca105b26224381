/** Lists the events announced to webhooks: all events of an account, or the timeline of one transaction. */
import type { NoticeRecord } from "../tables/notices.ts";
import { noticeBody, type Notice } from "./sending/notice-body.ts";
import { noticeOf } from "./announce.ts";
import type { Caller } from "../accounts/caller.ts";
import { isoTime } from "../iso-time.ts";
import { notInList, pageOf, type Page } from "../page.ts";
import { ownTransaction, type TransactionParts } from "../transactions/read-transaction.ts";
import { eventsQuery, parseRequest, type EventsQuery } from "../requests.ts";

/** A notice. */
export interface EventBody {
  /** The id, equal to `webhook-id` of the deliveries. */
  readonly eventId: string;
  readonly event: Notice["event"];
  readonly transactionId: string;
  readonly createdAt: string;
  /** The data, as in webhooks. */
  readonly data: Notice["data"];
}

/** See `PaymentService.events`. */
export async function listEvents(
  { storage }: Pick<TransactionParts, "storage">,
  { accountId }: Caller,
  query: EventsQuery = {},
): Promise<Page<EventBody>> {
  const { order, limit, startingAfter: beyond = null } = parseRequest(eventsQuery, query);
  if (beyond !== null) {
    const own = await storage.announcements(accountId, { order: "asc", beyond, limit: 1 });
    const [newest] = await storage.announcements(accountId, { order: "desc", beyond: null, limit: 1 });
    if (own.length === 0 && newest?.id !== beyond) throw notInList("event");
  }
  const rows = await storage.announcements(accountId, { order, beyond, limit: limit + 1 });
  const { data: shown, hasMore } = pageOf(rows, limit);
  const notices = new Map(
    (await storage.noticesById(shown.map(({ id }) => id))).map((notice) => [notice.id, notice]),
  );
  const data = shown
    .map(({ id }) => notices.get(id))
    .filter((notice) => notice !== undefined)
    .map((notice) => eventBody(notice, notice.body));
  return { data, hasMore };
}

interface TimelineCall {
  readonly transactionId: string;
  readonly query?: EventsQuery | undefined;
}

/** See `PaymentService.transactionEvents`. */
export async function listTransactionEvents(
  { storage, assets }: TransactionParts,
  caller: Caller,
  { transactionId, query = {} }: TimelineCall,
): Promise<Page<EventBody>> {
  const { order, limit, startingAfter } = parseRequest(eventsQuery, query);
  const view = await ownTransaction(storage, caller, transactionId);
  const notices = await storage.notices(transactionId);
  const ordered = order === "asc" ? notices : notices.toReversed();
  const start = startingAfter === undefined ? 0 : ordered.findIndex(({ id }) => id === startingAfter) + 1;
  if (startingAfter !== undefined && start === 0) throw notInList("event");
  // What is not serialised yet will be, into the same text.
  const bodyOf = (notice: NoticeRecord): string => notice.body ?? noticeBody(noticeOf(notice, view, assets));
  return pageOf(
    ordered.slice(start).map((notice) => eventBody(notice, bodyOf(notice))),
    limit,
  );
}

/** A notice in the list has its body: both are written in one commit. */
function eventBody({ id, transactionId, createdAt }: NoticeRecord, body: string | null): EventBody {
  const { event, data } = JSON.parse(body ?? "{}") as Pick<EventBody, "event" | "data">;
  return { eventId: id, event, transactionId, createdAt: isoTime(createdAt), data };
}
