/** Lists the events announced to webhooks: all events of an account, or the timeline of one transaction. */
import { z } from "zod";
import type { Immutable } from "../../core/immutable.ts";
import { named, amount, text, time } from "../frame/body-schemas.ts";
import type { NoticeRecord } from "../frame/tables/notices.ts";
import { noticeBody, type Notice } from "../frame/notices/notice-body.ts";
import { noticeOf } from "./announce.ts";
import { factFields } from "../frame/quotes/transaction-facts.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { isoTime } from "../frame/iso-time.ts";
import { notInList, pageOf, type Page } from "../frame/page.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import type { WebhookStorage } from "./webhook-storage.ts";
import { ownTransaction } from "../frame/transactions/read-transaction.ts";
import { eventsQuery, noticeEvent, type EventsQuery } from "./requests.ts";
import { parseRequest } from "../frame/request-fields.ts";

export const eventName = named("EventName", noticeEvent) satisfies z.ZodType<Notice["event"]>;

const recipient = named(
  "NoticeRecipient",
  z.object({
    address: text("The owner who is paid."),
    amount: amount("Its share, in whole units of the asset."),
    status: z
      .enum(["paid", "unpaid"])
      .describe("Private payroll only, once it is over: whether this recipient was paid.")
      .exactOptional(),
  }),
);

/** The data of a notice about its transaction; unknown values are null. */
export const noticeData = named(
  "NoticeData",
  z.object({
    transactionId: text("The transaction's id."),
    status: z.enum(["pending", "confirmed", "processing", "completed", "failed", "cancelled"]),
    mode: z.enum(["wallet", "private"]),
    type: z.enum(["send", "swap", "payroll"]),
    signature: z.string().nullable().describe("On the chain; null while unknown."),
    blockTime: z.int().nullable().describe("Unix seconds; null while unknown."),
    fee: amount("Null while unknown.").nullable(),
    recipients: z.array(recipient),
    reason: z.string().nullable().describe("Why it failed; null otherwise."),
    reference: z.string().nullable().describe("As it was given."),
    ...factFields,
    received: amount(
      "Of `transaction.deposit_received` only: the finalized sum of what came.",
    ).exactOptional(),
    remaining: amount("Of `transaction.deposit_received` only: what the deposit lacked.").exactOptional(),
  }),
) satisfies z.ZodType<Notice["data"]>;

export const eventSchema = named(
  "Event",
  z.object({
    eventId: text("The same as `webhook-id` of its deliveries."),
    event: eventName,
    transactionId: text("The transaction's id."),
    createdAt: time("When it happened."),
    data: noticeData.describe("As webhooks have it."),
  }),
);

/** A notice. @interface */
export type EventBody = Immutable<z.output<typeof eventSchema>>;

/** See `PaymentService.events`. */
export async function listEvents(
  { storage }: Pick<ServiceContext<WebhookStorage>, "storage">,
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
  { storage, assets }: Pick<ServiceContext<WebhookStorage>, "storage" | "assets">,
  caller: Caller,
  { transactionId, query = {} }: TimelineCall,
): Promise<Page<EventBody>> {
  const { order, limit, startingAfter } = parseRequest(eventsQuery, query);
  const view = await ownTransaction(storage, caller, transactionId);
  const notices = await storage.notices(transactionId);
  const ordered = order === "asc" ? notices : notices.toReversed();
  const start = startingAfter === undefined ? 0 : ordered.findIndex(({ id }) => id === startingAfter) + 1;
  if (startingAfter !== undefined && start === 0) throw notInList("event");
  // A body that is not serialised yet will have the same text.
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
