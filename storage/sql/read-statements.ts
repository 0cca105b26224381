/** The statements of the named reads. */
import { type Kysely, sql } from "kysely";
import type { NewestFirst } from "../storage.ts";
import type { TransactionStatus } from "../records.ts";
import type { Schema } from "./schema.ts";
import { statement } from "./statement.ts";

/** A page of a list that begins with the newest, as its statement takes it. */
export interface PageValues {
  readonly belowTime: number;
  readonly belowId: string;
  readonly limit: number;
}

/** Without a place it begins above every row. */
export function pageValues({ below, limit }: NewestFirst): PageValues {
  return { belowTime: below?.createdAt ?? Number.MAX_SAFE_INTEGER, belowId: below?.id ?? TOP, limit };
}

/** No id begins with it, and every id is below it: they are ASCII. */
const TOP = "\u{10ffff}";

/** Compared as pairs, so that an index over both is searched and not walked. */
const isBelow = ({ belowTime, belowId }: PageValues, id = "id") =>
  sql<boolean>`(${sql.ref("createdAt")}, ${sql.ref(id)}) < (${belowTime}, ${belowId})`;

/** The statements of an account's transactions, newest first. */
function transactionLists(db: Kysely<Schema>) {
  const below = (page: PageValues & { accountId: string }) =>
    db
      .selectFrom("transactions")
      .selectAll()
      .where("accountId", "=", page.accountId)
      .where(isBelow(page))
      .orderBy("createdAt", "desc")
      .orderBy("id", "desc")
      .limit(page.limit);
  type Values<T> = PageValues & { accountId: string } & T;
  return {
    transactionsOf: statement<Values<object>>()((page) => below(page)),
    transactionsOfStatus: statement<Values<{ status: string }>>()((page) =>
      below(page).where("status", "=", page.status as TransactionStatus),
    ),
    transactionsOfReference: statement<Values<{ reference: string }>>()((page) =>
      below(page).where("reference", "=", page.reference),
    ),
    paidTo: statement<Values<{ recipient: string }>>()((page) =>
      db
        .selectFrom("recipients")
        .select("transactionId")
        .where("accountId", "=", page.accountId)
        .where("address", "=", page.recipient)
        .where(isBelow(page, "transactionId"))
        .orderBy("createdAt", "desc")
        .orderBy("transactionId", "desc")
        .limit(page.limit),
    ),
  };
}

/** The statements of an account's list of events, in both directions. Beyond a row of another account lies nothing. */
function announcementLists(db: Kysely<Schema>) {
  type Values = { accountId: string; limit: number };
  const rows = ({ accountId, limit }: Values) =>
    db.selectFrom("announcements").selectAll().where("accountId", "=", accountId).limit(limit);
  const placeOf = ({ accountId, beyond }: Values & { beyond: string }) =>
    db
      .selectFrom("announcements as place")
      .select("place.seq")
      .where("place.id", "=", beyond)
      .where("place.accountId", "=", accountId);
  return {
    announcements: statement<Values>()((page) => rows(page).orderBy("seq")),
    latestAnnouncements: statement<Values>()((page) => rows(page).orderBy("seq", "desc")),
    announcementsAfter: statement<Values & { beyond: string }>()((page) =>
      rows(page).where("seq", ">", placeOf(page)).orderBy("seq"),
    ),
    announcementsBefore: statement<Values & { beyond: string }>()((page) =>
      rows(page).where("seq", "<", placeOf(page)).orderBy("seq", "desc"),
    ),
  };
}

export function readStatements(db: Kysely<Schema>) {
  return {
    ...transactionLists(db),
    ...announcementLists(db),
    recipients: statement<{ transactionId: string }>()(({ transactionId }) =>
      db.selectFrom("recipients").selectAll().where("transactionId", "=", transactionId).orderBy("index"),
    ),
    payments: statement<{ transactionId: string }>()(({ transactionId }) =>
      db
        .selectFrom("payments")
        .selectAll()
        .where("transactionId", "=", transactionId)
        .orderBy("createdAt")
        .orderBy("id"),
    ),
    // Addresses are ASCII, which every collation that compares bytes orders as JavaScript does.
    depositsAfter: statement<{ after: string; limit: number }>()(({ after, limit }) =>
      db.selectFrom("deposits").selectAll().where("id", ">", after).orderBy("id").limit(limit),
    ),
    entries: statement<{ address: string }>()(({ address }) =>
      db.selectFrom("entries").selectAll().where("address", "=", address).orderBy("at").orderBy("id"),
    ),
    reservations: statement<{ resource: string }>()(({ resource }) =>
      db
        .selectFrom("reservations")
        .selectAll()
        .where("resource", "=", resource)
        .where("releasedAt", "is", null)
        .orderBy("createdAt")
        .orderBy("id"),
    ),
    attemptOfMessage: statement<{ messageHash: string }>()(({ messageHash }) =>
      db.selectFrom("attempts").selectAll().where("messageHash", "=", messageHash),
    ),
    notices: statement<{ transactionId: string }>()(({ transactionId }) =>
      db
        .selectFrom("notices")
        .selectAll()
        .where("transactionId", "=", transactionId)
        .orderBy("createdAt")
        .orderBy("seq"),
    ),
    webhooks: statement<{ accountId: string }>()(({ accountId }) =>
      db
        .selectFrom("webhooks")
        .selectAll()
        .where("accountId", "=", accountId)
        .where("deletedAt", "is", null)
        .orderBy("createdAt")
        .orderBy("id"),
    ),
    deliveries: statement<{ transactionId: string }>()(({ transactionId }) =>
      db
        .selectFrom("deliveries")
        .selectAll()
        .where("transactionId", "=", transactionId)
        .orderBy("createdAt")
        .orderBy("id"),
    ),
    deliveriesTo: statement<PageValues & { webhookId: string }>()((page) =>
      db
        .selectFrom("deliveries")
        .selectAll()
        .where("webhookId", "=", page.webhookId)
        .where(isBelow(page))
        .orderBy("createdAt", "desc")
        .orderBy("id", "desc")
        .limit(page.limit),
    ),
    deliveryAttempts: statement<{ deliveryId: string }>()(({ deliveryId }) =>
      db
        .selectFrom("deliveryAttempts")
        .selectAll()
        .where("deliveryId", "=", deliveryId)
        .orderBy("number")
        .orderBy("startedAt"),
    ),
    limitWindow: statement<{ accountId: string; scope: string; since: number }>()(
      ({ accountId, scope, since }) =>
        db
          .selectFrom("limitHits")
          .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.min("at").as("oldest")])
          .where("accountId", "=", accountId)
          .where("scope", "=", scope)
          .where("at", ">", since),
    ),

    spendings: statement<{ purse: string; since: number }>()(({ purse, since }) =>
      db
        .selectFrom("spendings")
        .selectAll()
        .where("purse", "=", purse)
        .where("at", ">", since)
        .orderBy("at")
        .orderBy("id"),
    ),
    gatesAfter: statement<{ after: string; limit: number }>()(({ after, limit }) =>
      db.selectFrom("gates").selectAll().where("id", ">", after).orderBy("id").limit(limit),
    ),
    heldDeposits: statement<{ limit: number }>()(({ limit }) =>
      db
        .selectFrom("deposits")
        .selectAll()
        .where("heldReason", "is not", null)
        .orderBy("createdAt")
        .orderBy("id")
        .limit(limit),
    ),
    abandonedDeliveries: statement<{ limit: number }>()(({ limit }) =>
      db
        .selectFrom("deliveries")
        .select((eb) => [
          "webhookId",
          eb.fn.countAll<number>().as("count"),
          eb.fn.min("createdAt").as("oldest"),
          eb.fn.max("createdAt").as("newest"),
        ])
        // A literal, as in the index.
        .where("status", "=", sql.lit("abandoned"))
        .groupBy("webhookId")
        .orderBy("webhookId")
        .limit(limit),
    ),
    openMatters: statement<{ limit: number }>()(({ limit }) =>
      db
        .selectFrom("matters")
        .selectAll()
        .where("state", "in", [sql.lit<"waiting">("waiting"), sql.lit<"ending">("ending")])
        .orderBy("since")
        .orderBy("id")
        .limit(limit),
    ),
    volumeParts: statement<{ scope: string; since: number }>()(({ scope, since }) =>
      db.selectFrom("volumes").select("amount").where("scope", "=", scope).where("at", ">", since),
    ),
    auditPlace: statement<{ id: string }>()(({ id }) =>
      db.selectFrom("audit").select("seq").where("id", "=", id),
    ),
    auditAfter: statement<{ seq: number; limit: number }>()(({ seq, limit }) =>
      db.selectFrom("audit").selectAll().where("seq", ">", seq).orderBy("seq").limit(limit),
    ),
  };
}
