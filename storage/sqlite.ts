/** SQLite: one file, any number of processes on one machine, durable when a commit resolves. */
import type { Kysely } from "kysely";
import type { PaymentTables } from "./records.ts";
import { instanceStatements } from "./sql/instance-statements.ts";
import type { AnySchema } from "./sql/domain-statements.ts";
import { pageValues, readStatements } from "./sql/read-statements.ts";
import type { PaymentStorage } from "./storage.ts";
import { Commits } from "./sqlite/commits.ts";
import { Connection } from "./sqlite/connection.ts";
import { Domain } from "./sqlite/domain.ts";
import type { SqliteDatabase } from "./sqlite/driver.ts";
import { openDatabase, prepareDatabase } from "./sqlite/open.ts";
import { TaskQueue } from "./sqlite/task-queue.ts";
import { WatchList } from "./sqlite/watch-list.ts";

export type { SqliteDatabase, SqliteStatement } from "./sqlite/driver.ts";
export { StorageUnusable, type StorageUnusableCode } from "./storage-unusable.ts";

/** What a test may want to hold in its hands. */
export interface SqliteOptions {
  /** A clock that only grows, in milliseconds; it decides when a long batch lets the event loop have a turn. */
  readonly elapsed?: () => number;
}

// oxlint-disable-next-line paystate/no-ambient -- paces a batch and decides nothing that is stored
const sinceProcessStart = (): number => performance.now();

/**
 * Opens a storage in an SQLite database: a path (created with mode 0600 when it is new), or an open `Database` of
 * better-sqlite3 12 or 13, which then stays open on `close`. Either way the connection is set to WAL with
 * `synchronous = FULL`, so that what resolved survives a loss of power, and to a busy timeout of 0. Missing migrations
 * are applied first.
 *
 * Several processes may use one file. A lock held by another is waited for up to five seconds without blocking the
 * event loop; `onWake` never calls.
 *
 * @throws StorageUnusable when the driver or the database cannot be used, with a sentence that says what to do.
 */
export async function sqliteStorage(
  database: string | SqliteDatabase,
  { elapsed = sinceProcessStart }: SqliteOptions = {},
): Promise<PaymentStorage> {
  const handle = typeof database === "string" ? await openDatabase(database) : database;
  const close = (): void => {
    if (typeof database === "string") handle.close();
  };
  try {
    const db = await prepareDatabase(handle);
    return storageOn(new Connection(handle), db, elapsed, close);
  } catch (error) {
    close();
    throw error;
  }
}

function storageOn(
  connection: Connection,
  db: Awaited<ReturnType<typeof prepareDatabase>>,
  elapsed: () => number,
  close: () => void,
): PaymentStorage {
  const tasks = new TaskQueue(connection, db);
  const watches = new WatchList(connection, db);
  const domain = new Domain(connection, db as unknown as Kysely<AnySchema>);
  const commits = new Commits(connection, db, { tasks, watches, domain }, elapsed);
  const instances = connection.prepareAll(instanceStatements(db));
  const reads = connection.prepareAll(readStatements(db));

  /** One record by its id. */
  const one = <T extends keyof PaymentTables>(table: T, id: string): Promise<PaymentTables[T] | null> =>
    connection.read(() => domain.get(table, id));
  /** The records of some rows. */
  const many = <T extends keyof PaymentTables>(table: T, rows: () => object[]): Promise<PaymentTables[T][]> =>
    connection.read(() => rows().map((row) => domain.decode(table, row)));

  return {
    commit: (items) => commits.commit(items),
    claim: (request) => tasks.claim(request),
    heartbeat: (request) => tasks.heartbeat(request),
    release: (request) => tasks.release(request),
    load: (id) => connection.read(() => instances.load.get({ id }) ?? null),
    nextDue: (workflows) => tasks.nextDue(workflows),
    history: (instance, { after, limit }) =>
      connection.read(() => instances.history.all({ instance, after, limit })),
    claimShards: (request) => watches.claim(request),
    releaseShards: (holder) => watches.release(holder),
    watches: ({ kind, shards }) => watches.of(kind, shards),
    watchedKinds: () => watches.kinds(),
    deadLetters: (limit) => tasks.deadLetters(limit),
    failingTasks: (least, limit) => tasks.failingTasks(least, limit),
    earliestTasks: () => tasks.earliestTasks(),
    onWake: () => () => {},
    close: async () => close(),

    fact: async (id) => (await one("facts", id))?.value ?? null,
    apiKey: (id) =>
      connection.read(() => {
        const key = domain.get("apiKeys", id);
        const account = key === null ? null : domain.get("accounts", key.accountId);
        return key === null || account === null ? null : { key, account };
      }),
    quote: (id) => one("quotes", id),
    transaction: (id) =>
      connection.read(() => {
        const transaction = domain.get("transactions", id);
        if (transaction === null) return null;
        const recipients = reads.recipients.all({ transactionId: id });
        const payments = reads.payments.all({ transactionId: id });
        return {
          transaction,
          recipients: recipients.map((row) => domain.decode("recipients", row)),
          payments: payments.map((row) => domain.decode("payments", row)),
        };
      }),
    transactionsOf: (accountId, only, page) =>
      connection.read(() => {
        const values = { accountId, ...pageValues(page) };
        if (only !== null && "recipient" in only) {
          return reads.paidTo
            .all({ ...values, ...only })
            .map(({ transactionId }) => domain.get("transactions", transactionId))
            .filter((row) => row !== null);
        }
        const rows =
          only === null
            ? reads.transactionsOf.all(values)
            : "status" in only
              ? reads.transactionsOfStatus.all({ ...values, ...only })
              : reads.transactionsOfReference.all({ ...values, ...only });
        return rows.map((row) => domain.decode("transactions", row));
      }),
    deposits: (addresses) =>
      connection.read(() =>
        [...new Set(addresses)].map((id) => domain.get("deposits", id)).filter((row) => row !== null),
      ),
    depositsAfter: (after, limit) => many("deposits", () => reads.depositsAfter.all({ after, limit })),
    entries: (address) => many("entries", () => reads.entries.all({ address })),
    payment: (id) => one("payments", id),
    reservations: (resource) => many("reservations", () => reads.reservations.all({ resource })),
    attempts: (signatures) =>
      connection.read(() =>
        [...new Set(signatures)].map((id) => domain.get("attempts", id)).filter((row) => row !== null),
      ),
    attemptLike: (signature, messageHash) =>
      connection.read(() => {
        const row = reads.attemptOfMessage.get({ messageHash });
        return (
          domain.get("attempts", signature) ?? (row === undefined ? null : domain.decode("attempts", row))
        );
      }),
    idempotency: (id) => one("idempotency", id),
    notice: (id) => one("notices", id),
    notices: (transactionId) => many("notices", () => reads.notices.all({ transactionId })),
    announcements: (accountId, { order, beyond, limit }) =>
      many("announcements", () => {
        const all = { asc: reads.announcements, desc: reads.latestAnnouncements };
        const beyondOne = { asc: reads.announcementsAfter, desc: reads.announcementsBefore };
        return beyond === null
          ? all[order].all({ accountId, limit })
          : beyondOne[order].all({ accountId, beyond, limit });
      }),
    webhook: (id) => one("webhooks", id),
    webhooks: (accountId) => many("webhooks", () => reads.webhooks.all({ accountId })),
    deliveries: (transactionId) => many("deliveries", () => reads.deliveries.all({ transactionId })),
    delivery: (id) => one("deliveries", id),
    deliveriesTo: (webhookId, page) =>
      many("deliveries", () => reads.deliveriesTo.all({ webhookId, ...pageValues(page) })),
    deliveryAttempts: (deliveryId) =>
      many("deliveryAttempts", () => reads.deliveryAttempts.all({ deliveryId })),
    limitWindow: (accountId, scope, since) =>
      connection.read(() => {
        const window = reads.limitWindow.get({ accountId, scope, since });
        return { count: window?.count ?? 0, oldest: window?.oldest ?? null };
      }),

    spendings: (purse, since) => many("spendings", () => reads.spendings.all({ purse, since })),
    gates: (ids) =>
      connection.read(() =>
        [...new Set(ids)].map((id) => domain.get("gates", id)).filter((row) => row !== null),
      ),
    gatesAfter: (after, limit) => many("gates", () => reads.gatesAfter.all({ after, limit })),
    heldDeposits: (limit) => many("deposits", () => reads.heldDeposits.all({ limit })),
    abandonedDeliveries: (limit) => connection.read(() => reads.abandonedDeliveries.all({ limit })),
    matters: (ids) =>
      connection.read(() =>
        [...new Set(ids)].map((id) => domain.get("matters", id)).filter((row) => row !== null),
      ),
    openMatters: (limit) => many("matters", () => reads.openMatters.all({ limit })),
    decision: (id) => one("decisions", id),
    volume: (scope, since) =>
      connection.read(() =>
        reads.volumeParts.all({ scope, since }).reduce((sum, { amount }) => sum + BigInt(amount), 0n),
      ),
    audit: (after, limit) =>
      connection.read(() => {
        const place = after === null ? { seq: 0 } : reads.auditPlace.get({ id: after });
        if (place === undefined) return null;
        const rows = reads.auditAfter.all({ seq: place.seq, limit });
        return rows.map((row) => domain.decode("audit", row));
      }),
  };
}
