/** The statements of the named reads. */
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";
import { statement } from "./statement.ts";

export function readStatements(db: Kysely<Schema>) {
  return {
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
  };
}
