/** The named reads of the payment service, over any storage that holds its tables. */
import type { Address } from "../address.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { withTables } from "../../storage/with-tables.ts";
import type { Table } from "../../storage/table.ts";
import type {
  AbandonedDeliveries,
  NewestFirst,
  PaymentReads,
  PaymentStorage,
  Place,
  TransactionLookup,
} from "./payment-storage.ts";
import { paymentTables as tables } from "./tables.ts";
import type { TransactionRecord } from "./records.ts";

/** What is needed of a storage to read. */
type Read = Pick<EngineStorage, "get" | "find" | "tally">;

/** The storage with the tables of the payment service, which are installed before its first use. */
export function paymentStorage(storage: EngineStorage): PaymentStorage {
  const ready = withTables(storage, Object.values(tables));
  return { ...ready, ...paymentReads(ready) };
}

function paymentReads(read: Read): PaymentReads {
  return {
    ...identityReads(read),
    ...orderReads(read),
    ...depositReads(read),
    ...attemptReads(read),
    ...noticeReads(read),
    ...webhookReads(read),
    ...limitReads(read),
    ...operatorReads(read),
  };
}

function identityReads(
  read: Read,
): Pick<
  PaymentReads,
  "fact" | "newestLife" | "lives" | "apiKey" | "account" | "accountsAfter" | "apiKeysOf" | "idempotency"
> {
  return {
    fact: async (id) => (await read.get(tables.facts, id))?.value ?? null,
    async newestLife() {
      const [newest] = await read.find({ table: tables.lives, order: "desc", limit: 1 });
      return newest ?? null;
    },
    lives: () => read.find({ table: tables.lives }),
    async apiKey(id) {
      const key = await read.get(tables.apiKeys, id);
      const account = key === null ? null : await read.get(tables.accounts, key.accountId);
      return key === null || account === null ? null : { key, account };
    },
    account: (id) => read.get(tables.accounts, id),
    accountsAfter: (after, limit) =>
      read.find({ table: tables.accounts, index: "key", after: [after], limit }),
    apiKeysOf: (accountId) => read.find({ table: tables.apiKeys, index: "ofAccount", equals: { accountId } }),
    idempotency: (id) => read.get(tables.idempotency, id),
  };
}

function orderReads(
  read: Read,
): Pick<PaymentReads, "quote" | "transaction" | "transactionsOf" | "transactionsAfter" | "payment"> {
  return {
    quote: (id) => read.get(tables.quotes, id),
    async transaction(id) {
      const ofIt = { index: "ofTransaction", equals: { transactionId: id } } as const;
      // Asked for in one turn, so that all three are of one moment.
      const [transaction, recipients, payments] = await Promise.all([
        read.get(tables.transactions, id),
        read.find({ table: tables.recipients, ...ofIt }),
        read.find({ table: tables.payments, ...ofIt }),
      ]);
      return transaction === null ? null : { transaction, recipients, payments };
    },
    transactionsAfter: (after, limit) =>
      read.find({ table: tables.transactions, index: "key", after: [after], limit }),
    transactionsOf: (accountId, only, page) =>
      only !== null && "recipient" in only
        ? transactionsPaidTo(read, { accountId, address: only.recipient }, page)
        : read.find({
            table: tables.transactions,
            ...transactionsIndex(accountId, only),
            ...newestFirst(page),
          }),
    payment: (id) => read.get(tables.payments, id),
  };
}

function transactionsIndex(
  accountId: string,
  only: Exclude<TransactionLookup, { readonly recipient: Address }> | null,
): { readonly index: string; readonly equals: Partial<TransactionRecord> } {
  if (only === null) return { index: "ofAccount", equals: { accountId } };
  return { index: "status" in only ? "ofStatus" : "ofReference", equals: { accountId, ...only } };
}

async function transactionsPaidTo(
  read: Read,
  equals: { readonly accountId: string; readonly address: Address },
  page: NewestFirst,
): Promise<readonly TransactionRecord[]> {
  const paid = await read.find({ table: tables.recipients, index: "paidTo", equals, ...newestFirst(page) });
  return rowsOf(
    read,
    tables.transactions,
    paid.map(({ transactionId }) => transactionId),
  );
}

/** A page that begins with the newest, by creation and where that is the same by id. */
function newestFirst({ below, limit }: NewestFirst) {
  const after = below === null ? {} : { after: [below.createdAt, below.id] };
  return { order: "desc", limit, ...after } as const;
}

function depositReads(
  read: Read,
): Pick<
  PaymentReads,
  "deposits" | "depositsAfter" | "entries" | "vouchings" | "unknownSignatures" | "heldDeposits"
> {
  const { deposits, entries, vouchings, unknownSignatures } = tables;
  return {
    deposits: (addresses) => rowsOf(read, deposits, addresses),
    depositsAfter: (after, limit) => read.find({ table: deposits, index: "key", after: [after], limit }),
    entries: (address) => read.find({ table: entries, index: "ofAddress", equals: { address } }),
    vouchings: (address) => read.find({ table: vouchings, index: "ofAddress", equals: { address } }),
    unknownSignatures: async (address) => {
      const found = await read.find({ table: unknownSignatures, index: "ofAddress", equals: { address } });
      return found.map(({ id }) => id);
    },
    heldDeposits: (limit, last) => {
      const after = last === undefined ? {} : { after: [last.createdAt, last.id] };
      return read.find({ table: deposits, index: "held", ...after, limit });
    },
  };
}

function attemptReads(read: Read): Pick<PaymentReads, "attempts" | "attemptLike"> {
  return {
    attempts: (signatures) => rowsOf(read, tables.attempts, signatures),
    async attemptLike(signature, messageHash) {
      const [bySignature, [byHash]] = await Promise.all([
        read.get(tables.attempts, signature),
        read.find({ table: tables.attempts, index: "messageHash", equals: { messageHash } }),
      ]);
      return bySignature ?? byHash ?? null;
    },
  };
}

function noticeReads(
  read: Read,
): Pick<PaymentReads, "notice" | "notices" | "noticesInSequence" | "announcements"> {
  return {
    notice: (id) => read.get(tables.notices, id),
    notices: (transactionId) =>
      read.find({ table: tables.notices, index: "ofTransaction", equals: { transactionId } }),
    noticesInSequence: ({ order, beyond, limit }) =>
      read.find({ table: tables.notices, order, limit, ...(beyond === null ? {} : { beyond }) }),
    announcements: (accountId, { order, beyond, limit }) =>
      read.find({
        table: tables.announcements,
        index: "ofAccount",
        equals: { accountId },
        order,
        limit,
        ...(beyond === null ? {} : { beyond }),
      }),
  };
}

function webhookReads(
  read: Read,
): Pick<
  PaymentReads,
  | "webhook"
  | "webhooks"
  | "webhookChanges"
  | "deliveries"
  | "delivery"
  | "deliveriesTo"
  | "deliveryAttempts"
  | "lastDeliveredAt"
  | "abandonedSince"
  | "abandonedDeliveries"
  | "retriedDeliveries"
  | "untriedDeliveries"
> {
  const { webhooks, webhookLists, deliveries, deliveryAttempts } = tables;
  return {
    webhook: (id) => read.get(webhooks, id),
    webhooks: (accountId) => read.find({ table: webhooks, index: "ofAccount", equals: { accountId } }),
    webhookChanges: async (accountId) => (await read.get(webhookLists, accountId))?.version ?? 0,
    deliveries: (transactionId) =>
      read.find({ table: deliveries, index: "ofTransaction", equals: { transactionId } }),
    delivery: (id) => read.get(deliveries, id),
    deliveriesTo: (webhookId, page) =>
      read.find({ table: deliveries, index: "ofWebhook", equals: { webhookId }, ...newestFirst(page) }),
    deliveryAttempts: (deliveryId) =>
      read.find({ table: deliveryAttempts, index: "ofDelivery", equals: { deliveryId } }),
    async lastDeliveredAt(webhookId) {
      const newest = { index: "lastDelivered", equals: { webhookId }, order: "desc", limit: 1 } as const;
      const [last] = await read.find({ table: deliveries, ...newest });
      return last?.deliveredAt ?? null;
    },
    async abandonedSince(webhookId, since, limit) {
      const after = { index: "lastAbandoned", equals: { webhookId }, after: [since], limit };
      return (await read.find({ table: deliveries, ...after })).length;
    },
    abandonedDeliveries: (limit) => abandonedDeliveries(read, limit),
    untriedDeliveries: (limit) =>
      read.find({ table: deliveries, index: "retried", equals: { attempts: 0 }, limit }),
    retriedDeliveries: (limit) => read.find({ table: deliveries, index: "retried", after: [0], limit }),
  };
}

/** From webhook to webhook, with a few seeks for each, however many deliveries they have. */
async function abandonedDeliveries(read: Read, limit: number): Promise<AbandonedDeliveries[]> {
  const ofAll = { table: tables.deliveries, index: "abandoned" } as const;
  const found: AbandonedDeliveries[] = [];
  let [next] = await read.find({ ...ofAll, limit: 1 });
  while (next !== undefined && found.length < limit) {
    const { webhookId, createdAt: oldest } = next;
    const ofIt = { ...ofAll, equals: { webhookId } };
    const [{ count }, [newest], [following]] = await Promise.all([
      read.tally(ofIt),
      read.find({ ...ofIt, order: "desc", limit: 1 }),
      read.find({ ...ofAll, after: [webhookId], limit: 1 }),
    ]);
    if (newest !== undefined) found.push({ webhookId, count, oldest, newest: newest.createdAt });
    next = following;
  }
  return found;
}

function limitReads(
  read: Read,
): Pick<PaymentReads, "limitWindow" | "volume" | "reservations" | "reservation" | "lapsing" | "spendings"> {
  return {
    async limitWindow(accountId, scope, since) {
      const window = {
        table: tables.limitHits,
        index: "ofScope",
        equals: { accountId, scope },
        after: [since],
      };
      const [{ count }, [oldest]] = await Promise.all([
        read.tally(window),
        read.find({ ...window, limit: 1 }),
      ]);
      return { count, oldest: oldest?.at ?? null };
    },
    volume: async (scope, since) =>
      (
        await read.tally({
          table: tables.volumes,
          index: "ofScope",
          equals: { scope },
          after: [since],
          sum: "amount",
        })
      ).total,
    reservations: (resource) =>
      read.find({ table: tables.reservations, index: "ofResource", equals: { resource, releasedAt: null } }),
    reservation: (id) => read.get(tables.reservations, id),
    lapsing: (resource, limit) =>
      read.find({ table: tables.reservations, index: "lapsing", equals: { resource }, limit }),
    spendings: (purse, since) =>
      read.find({ table: tables.spendings, index: "ofPurse", equals: { purse }, after: [since] }),
  };
}

function operatorReads(
  read: Read,
): Pick<PaymentReads, "gates" | "gatesAfter" | "matters" | "openMatters" | "decision" | "audit"> {
  const { gates, matters, decisions, audit } = tables;
  return {
    gates: (ids) => rowsOf(read, gates, ids),
    gatesAfter: (after, limit) => read.find({ table: gates, index: "key", after: [after], limit }),
    matters: (ids) => rowsOf(read, matters, ids),
    async openMatters(limit) {
      const of = (state: "waiting" | "ending") =>
        read.find({ table: matters, index: "ofState", equals: { state }, limit });
      const open = await Promise.all([of("waiting"), of("ending")]);
      const oldestFirst = open.flat().toSorted((a, b) => byPlace(placeOf(a), placeOf(b)));
      return oldestFirst.slice(0, limit);
    },
    decision: (id) => read.get(decisions, id),
    async audit(after, limit) {
      if (after === null) return read.find({ table: audit, limit });
      const [last, rows] = await Promise.all([
        read.get(audit, after),
        read.find({ table: audit, beyond: after, limit }),
      ]);
      return last === null ? null : rows;
    },
  };
}

const placeOf = ({ id, since }: { readonly id: string; readonly since: number }): Place => ({
  id,
  createdAt: since,
});

const byPlace = (a: Place, b: Place): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** Rows by their keys, each once; absent ones are left out. */
async function rowsOf<R extends object>(
  read: Read,
  table: Table<R>,
  keys: readonly string[],
): Promise<readonly R[]> {
  const rows = await Promise.all([...new Set(keys)].map((key) => read.get(table, key)));
  return rows.filter((row) => row !== null);
}
