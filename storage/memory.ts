/** The reference adapter: everything in the memory of one process, with copies in and out and real rollback. */
import { MemoryDatabase } from "./memory/database.ts";
import type { PaymentTables } from "./records.ts";
import type { AbandonedDeliveries, NewestFirst, PaymentStorage, Place } from "./storage.ts";

/**
 * A storage that lives as long as the process: for tests, simulations and trying things out. It keeps every promise of
 * the port but durability (G5), and is its own database: `close` lets go of nothing and `onWake` never calls.
 */
export function memoryStorage(): PaymentStorage {
  const database = new MemoryDatabase();
  const { journal, instances, history, tasks, watches, domain } = database;

  /** A copy of one row, or null. */
  function one<T extends keyof PaymentTables>(table: T, id: string): PaymentTables[T] | null {
    const row = domain[table].get(id);
    return row === undefined ? null : domain[table].copy(row);
  }

  return {
    commit: async (items) => database.commit(items),
    claim: async (request) => journal.atomically(() => tasks.claim(request)),
    heartbeat: async ({ tasks: held, now, leaseMs }) =>
      journal.atomically(() =>
        held.filter(({ id, token }) => !tasks.extend(id, token, now + leaseMs)).map(({ id }) => id),
      ),
    release: async ({ id, token, dueAt, error }) =>
      journal.atomically(() => tasks.release(id, token, dueAt, error)),
    load: async (id) => {
      const instance = instances.get(id);
      return instance === undefined ? null : instances.copy(instance);
    },
    nextDue: async (workflows) => tasks.nextDue(workflows),
    history: async (instance, { after, limit }) =>
      history
        .under(instance)
        .filter((row) => row.version > after)
        .toSorted((a, b) => a.version - b.version)
        .slice(0, limit)
        .map((row) => history.copy(row)),
    claimShards: async (claim) => journal.atomically(() => watches.claim(claim)),
    releaseShards: async (holder) => journal.atomically(() => watches.release(holder)),
    watches: async ({ kind, shards }) => watches.of(kind, shards),
    watchedKinds: async () => watches.kinds(),
    deadLetters: async (limit) => tasks.deadLetters(limit),
    failingTasks: async (least, limit) => tasks.failingTasks(least, limit),
    earliestTasks: async () => tasks.earliestTasks(),
    onWake: () => () => {},
    close: async () => {},

    fact: async (id) => one("facts", id)?.value ?? null,
    apiKey: async (id) => {
      const key = one("apiKeys", id);
      const account = key === null ? null : one("accounts", key.accountId);
      return key === null || account === null ? null : { key, account };
    },
    quote: async (id) => one("quotes", id),
    transaction: async (id) => {
      const transaction = one("transactions", id);
      if (transaction === null) return null;
      const recipients = domain.recipients.under(id).map((row) => domain.recipients.copy(row));
      const payments = domain.payments.under(id).map((row) => domain.payments.copy(row));
      return {
        transaction,
        recipients: recipients.toSorted((a, b) => a.index - b.index),
        payments: payments.toSorted(oldestFirst),
      };
    },
    transactionsOf: async (accountId, only, page) =>
      newestFirst(
        domain.transactions.under(accountId).filter((row) => {
          if (only === null) return true;
          if ("status" in only) return row.status === only.status;
          if ("reference" in only) return row.reference === only.reference;
          return domain.recipients.under(row.id).some(({ address }) => address === only.recipient);
        }),
        page,
      ).map((row) => domain.transactions.copy(row)),
    deposits: async (addresses) =>
      [...new Set(addresses)].map((address) => one("deposits", address)).filter((row) => row !== null),
    depositsAfter: async (after, limit) =>
      [...domain.deposits.all()]
        .filter(({ id }) => id > after)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map((row) => domain.deposits.copy(row)),
    entries: async (address) =>
      domain.entries
        .under(address)
        .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
        .map((row) => domain.entries.copy(row)),
    payment: async (id) => one("payments", id),
    reservations: async (resource) =>
      domain.reservations
        .under(resource)
        .filter((row) => row.releasedAt === null)
        .toSorted(oldestFirst)
        .map((row) => domain.reservations.copy(row)),
    attempts: async (signatures) =>
      [...new Set(signatures)].map((signature) => one("attempts", signature)).filter((row) => row !== null),
    attemptLike: async (signature, messageHash) => {
      const bySignature = one("attempts", signature);
      if (bySignature !== null) return bySignature;
      const byHash = [...domain.attempts.all()].find((row) => row.messageHash === messageHash);
      return byHash === undefined ? null : domain.attempts.copy(byHash);
    },
    idempotency: async (id) => one("idempotency", id),
    notice: async (id) => one("notices", id),
    notices: async (transactionId) =>
      domain.notices
        .under(transactionId)
        .toSorted((a, b) => a.createdAt - b.createdAt)
        .map((row) => domain.notices.copy(row)),
    announcements: async (accountId, { order, beyond, limit }) => {
      const grown = domain.announcements.under(accountId);
      const rows = order === "asc" ? grown : grown.toReversed();
      const start = beyond === null ? 0 : rows.findIndex(({ id }) => id === beyond) + 1;
      const isElsewhere = beyond !== null && start === 0;
      return isElsewhere ? [] : rows.slice(start, start + limit).map((row) => domain.announcements.copy(row));
    },
    webhook: async (id) => one("webhooks", id),
    webhooks: async (accountId) =>
      domain.webhooks
        .under(accountId)
        .filter((row) => row.deletedAt === null)
        .toSorted(oldestFirst)
        .map((row) => domain.webhooks.copy(row)),
    deliveries: async (transactionId) =>
      domain.deliveries
        .under(transactionId)
        .toSorted(oldestFirst)
        .map((row) => domain.deliveries.copy(row)),
    delivery: async (id) => one("deliveries", id),
    deliveriesTo: async (webhookId, page) =>
      newestFirst(
        [...domain.deliveries.all()].filter((row) => row.webhookId === webhookId),
        page,
      ).map((row) => domain.deliveries.copy(row)),
    deliveryAttempts: async (deliveryId) =>
      domain.deliveryAttempts
        .under(deliveryId)
        .toSorted((a, b) => a.number - b.number || a.startedAt - b.startedAt)
        .map((row) => domain.deliveryAttempts.copy(row)),
    limitWindow: async (accountId, scope, since) => {
      const hits = domain.limitHits.under(accountId).filter((hit) => hit.scope === scope && hit.at > since);
      return {
        count: hits.length,
        oldest: hits.length === 0 ? null : Math.min(...hits.map((hit) => hit.at)),
      };
    },

    spendings: async (purse, since) =>
      domain.spendings
        .under(purse)
        .filter((row) => row.at > since)
        .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
        .map((row) => domain.spendings.copy(row)),
    gates: async (ids) => [...new Set(ids)].map((id) => one("gates", id)).filter((row) => row !== null),
    gatesAfter: async (after, limit) =>
      [...domain.gates.all()]
        .filter(({ id }) => id > after)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map((row) => domain.gates.copy(row)),
    heldDeposits: async (limit) =>
      [...domain.deposits.all()]
        .filter(({ heldReason }) => heldReason !== null)
        .toSorted(oldestFirst)
        .slice(0, limit)
        .map((row) => domain.deposits.copy(row)),
    abandonedDeliveries: async (limit) => {
      const found = new Map<string, AbandonedDeliveries>();
      for (const { webhookId, status, createdAt: at } of domain.deliveries.all()) {
        if (status !== "abandoned") continue;
        const { count, oldest, newest } = found.get(webhookId) ?? { count: 0, oldest: at, newest: at };
        const sums = { count: count + 1, oldest: Math.min(oldest, at), newest: Math.max(newest, at) };
        found.set(webhookId, { webhookId, ...sums });
      }
      return [...found.values()].toSorted((a, b) => (a.webhookId < b.webhookId ? -1 : 1)).slice(0, limit);
    },
    matters: async (ids) => [...new Set(ids)].map((id) => one("matters", id)).filter((row) => row !== null),
    openMatters: async (limit) =>
      [...domain.matters.under("waiting"), ...domain.matters.under("ending")]
        .toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map((row) => domain.matters.copy(row)),
    decision: async (id) => one("decisions", id),
    volume: async (scope, since) =>
      domain.volumes
        .under(scope)
        .filter(({ at }) => at > since)
        .reduce((sum, { amount }) => sum + amount, 0n),
    audit: async (after, limit) => {
      // Rows lie in the order in which they came.
      const rows = [...domain.audit.all()];
      const index = rows.findIndex(({ id }) => id === after);
      if (after !== null && index < 0) return null;
      return rows.slice(index + 1, index + 1 + limit).map((row) => domain.audit.copy(row));
    },
  };
}

/** The part of these rows that was asked for. */
function newestFirst<R extends Place>(rows: readonly R[], { below, limit }: NewestFirst): readonly R[] {
  return rows
    .filter((row) => below === null || oldestFirst(row, below) < 0)
    .toSorted((a, b) => oldestFirst(b, a))
    .slice(0, limit);
}

/** By creation, and where that is the same by id, so that every adapter answers in one order. */
function oldestFirst(a: Place, b: Place): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id));
}
