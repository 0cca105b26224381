/**
 * The first schema. A migration that was released is never edited: what it describes is repeated here and not taken
 * from the code of today. Rows refer to each other by id without foreign keys, so that the parts of a commit may be
 * written in any order and history outlives what it is about.
 */
import { type Kysely, sql } from "kysely";
import type { Column } from "../../tables.ts";
import type { SchemaDialect } from "./dialect.ts";

const tables: Readonly<Record<string, Readonly<Record<string, Column>>>> = {
  instances: {
    id: "text",
    workflow: "text",
    hash: "text",
    version: "integer",
    status: "text",
    snapshot: "text",
    createdAt: "integer",
    updatedAt: "integer",
  },
  tasks: {
    id: "text",
    instance: "text",
    workflow: "text",
    kind: "text",
    name: "text",
    payload: "text",
    dueAt: "integer",
    lane: "text?",
    cap: "integer?",
    visibleAt: "integer",
    holder: "text?",
    token: "integer",
    crashes: "integer",
    failures: "integer",
    lastError: "text?",
    failingSince: "integer?",
    deadAt: "integer?",
  },
  lanes: { lane: "text", workflow: "text", cap: "integer", nextAt: "integer" },
  watches: { kind: "text", key: "text", instance: "text", workflow: "text", shard: "integer" },
  watchShards: { kind: "text", shard: "integer", holder: "text", leaseUntil: "integer" },
  history: { instance: "text", version: "integer", at: "integer", event: "text", value: "text" },
  facts: { id: "text", value: "text" },
  accounts: { id: "text", name: "text", tier: "text", createdAt: "integer" },
  apiKeys: {
    id: "text",
    accountId: "text",
    secretHash: "text",
    environment: "text",
    scopes: "strings",
    createdAt: "integer",
    expiresAt: "integer?",
    revokedAt: "integer?",
  },
  quotes: {
    id: "text",
    version: "integer",
    accountId: "text",
    mode: "text",
    inputMint: "text",
    outputMint: "text",
    inputAmount: "amount",
    outputAmount: "amount",
    minOutputAmount: "amount",
    feeMint: "text",
    networkFee: "amount",
    routingFee: "amount",
    rent: "amount",
    pricedAccounts: "integer",
    slippageBps: "integer",
    priceImpact: "text",
    sender: "text?",
    recipients: "shares?",
    exchange: "text?",
    createdAt: "integer",
    expiresAt: "integer",
    usedBy: "text?",
  },
  transactions: {
    id: "text",
    accountId: "text",
    quoteId: "text",
    type: "text",
    mode: "text",
    sender: "text",
    mint: "text",
    feeMint: "text",
    depositAddress: "text?",
    reference: "text?",
    requestHash: "text",
    status: "text",
    reason: "text?",
    signature: "text?",
    blockTime: "integer?",
    fee: "amount?",
    landedAfterCancel: "boolean",
    attention: "text?",
    landedSignature: "text?",
    broadcastAt: "integer?",
    cancelledAt: "integer?",
    createdAt: "integer",
  },
  recipients: {
    id: "text",
    transactionId: "text",
    accountId: "text",
    createdAt: "integer",
    index: "integer",
    address: "text",
    amount: "amount",
    status: "text",
    signature: "text?",
  },
  deposits: {
    id: "text",
    transactionId: "text",
    accountId: "text",
    masterVersion: "integer",
    mint: "text",
    amount: "amount",
    expiresAt: "integer",
    waitEndedAt: "integer?",
    heldReason: "text?",
    createdAt: "integer",
  },
  payments: {
    id: "text",
    transactionId: "text",
    address: "text",
    kind: "text",
    status: "text",
    mark: "text",
    mint: "text",
    legs: "shares",
    plan: "text",
    signature: "text?",
    reason: "text?",
    createdAt: "integer",
  },
  entries: {
    id: "text",
    address: "text",
    at: "integer",
    kind: "text",
    mint: "text",
    amount: "amount",
    signature: "text?",
  },
  reservations: {
    id: "text",
    version: "integer",
    resource: "text",
    amount: "amount",
    createdAt: "integer",
    lapsesAt: "integer?",
    releasedAt: "integer?",
  },
  attempts: {
    id: "text",
    messageHash: "text",
    transactionId: "text",
    bytes: "bytes",
    blockhash: "text",
    lastValidBlockHeight: "integer",
    firstSlot: "integer",
    reference: "text?",
    createdAt: "integer",
  },
  idempotency: { id: "text", fingerprint: "text", answer: "text", createdAt: "integer" },
  notices: {
    id: "text",
    transactionId: "text",
    event: "text",
    status: "text",
    reason: "text?",
    signature: "text?",
    blockTime: "integer?",
    fee: "amount?",
    body: "text?",
    createdAt: "integer",
  },
  announcements: { id: "text", accountId: "text", at: "integer" },
  webhooks: {
    id: "text",
    version: "integer",
    accountId: "text",
    url: "text",
    events: "strings",
    sealedSecret: "text?",
    previousSealedSecret: "text?",
    previousUntil: "integer?",
    disabledAt: "integer?",
    disabledReason: "text?",
    createdAt: "integer",
    deletedAt: "integer?",
  },
  deliveries: {
    id: "text",
    accountId: "text",
    webhookId: "text",
    noticeId: "text",
    transactionId: "text",
    status: "text",
    attempts: "integer",
    runs: "integer",
    createdAt: "integer",
  },
  deliveryAttempts: {
    id: "text",
    deliveryId: "text",
    number: "integer",
    startedAt: "integer",
    durationMs: "integer",
    httpStatus: "integer?",
    error: "text?",
    excerpt: "text?",
  },
  limitHits: { id: "text", accountId: "text", scope: "text", at: "integer" },

  spendings: { id: "text", purse: "text", amount: "amount", at: "integer" },
  gates: { id: "text", version: "integer", rules: "text" },
  volumes: { id: "text", scope: "text", at: "integer", amount: "amount" },
  matters: {
    id: "text",
    version: "integer",
    kind: "text",
    state: "text",
    transactionId: "text?",
    accountId: "text?",
    message: "text",
    since: "integer",
    toldAt: "integer?",
    tellingUntil: "integer?",
  },
  decisions: { id: "text", version: "integer", proposal: "text?", decidedAt: "integer" },
  audit: { id: "text", at: "integer", actor: "text", reason: "text", act: "text", what: "text" },
};

/** Primary keys other than `id`. */
const keys: Readonly<Record<string, readonly string[]>> = {
  lanes: ["lane", "workflow"],
  watches: ["kind", "key", "instance"],
  watchShards: ["kind", "shard"],
  history: ["instance", "version"],
};

/** Tables whose rows of one time are told apart by the order in which they came. */
const sequenced: ReadonlySet<string> = new Set(["tasks", "notices", "announcements", "audit"]);

const lookups: readonly (readonly [table: string, ...columns: string[]])[] = [
  ["lanes", "workflow", "nextAt"],
  ["watches", "kind", "shard", "key"],
  // The lists of an account's transactions, newest first; a look-up by status, reference or recipient has its own.
  ["transactions", "accountId", "createdAt", "id"],
  ["transactions", "accountId", "status", "createdAt", "id"],
  ["transactions", "accountId", "reference", "createdAt", "id"],
  ["recipients", "accountId", "address", "createdAt", "transactionId"],
  ["recipients", "transactionId", "index"],
  ["deposits", "accountId", "waitEndedAt"],
  ["payments", "transactionId", "createdAt", "id"],
  ["entries", "address", "at", "id"],
  ["reservations", "resource", "releasedAt", "createdAt", "id"],
  ["notices", "transactionId", "createdAt", "seq"],
  ["webhooks", "accountId", "createdAt", "id"],
  ["announcements", "accountId", "seq"],
  ["deliveries", "transactionId", "createdAt", "id"],
  ["deliveries", "webhookId", "createdAt", "id"],
  ["deliveryAttempts", "deliveryId", "number", "startedAt"],
  ["limitHits", "accountId", "scope", "at"],
  ["spendings", "purse", "at", "id"],
  ["volumes", "scope", "at"],
  ["matters", "state", "since", "id"],
];

const uniques: readonly (readonly [table: string, column: string])[] = [
  ["attempts", "messageHash"],
  ["deposits", "transactionId"],
];

export async function initial(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  for (const [table, columns] of Object.entries(tables)) {
    if (sequenced.has(table)) await dialect.createSequencedTable(db, table, columns);
    else await dialect.createTable(db, table, columns, keys[table] ?? ["id"]);
  }
  for (const [table, ...columns] of lookups) {
    await db.schema
      .createIndex(`${table}_by_${columns.join("_")}`)
      .on(table)
      .columns(columns)
      .execute();
  }
  for (const [table, column] of uniques) {
    await db.schema.createIndex(`${table}_by_${column}`).unique().on(table).column(column).execute();
  }
  await createTaskIndexes(db);
  await createAttentionIndexes(db);
}

/** What needs a person is seldom, and looked for often. */
async function createAttentionIndexes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex("deposits_held")
    .on("deposits")
    .columns(["createdAt", "id"])
    .where(sql<boolean>`${sql.ref("heldReason")} is not null`)
    .execute();
  await db.schema
    .createIndex("deliveries_abandoned")
    .on("deliveries")
    .columns(["webhookId", "createdAt"])
    .where(sql<boolean>`status = 'abandoned'`)
    .execute();
}

/** A claim seeks in the first two, a lane's next slot in the third; the dead are in none of them. */
async function createTaskIndexes(db: Kysely<unknown>): Promise<void> {
  const alive = sql<boolean>`${sql.ref("deadAt")} is null`;
  const index = (name: string, columns: string[]) => db.schema.createIndex(name).on("tasks").columns(columns);
  await index("tasks_free", ["workflow", "visibleAt", "seq"])
    .where(sql<boolean>`lane is null and ${alive}`)
    .execute();
  await index("tasks_laned", ["lane", "workflow", "visibleAt", "seq"])
    .where(sql<boolean>`lane is not null and ${alive}`)
    .execute();
  await index("tasks_held", ["lane", "visibleAt"])
    .where(sql<boolean>`lane is not null and holder is not null and ${alive}`)
    .execute();
  await index("tasks_timers", ["instance", "name"])
    .where(sql<boolean>`kind = 'timer'`)
    .execute();
  await index("tasks_failing", ["failingSince", "seq"])
    .where(sql<boolean>`${sql.ref("failingSince")} is not null and ${alive}`)
    .execute();
  await index("tasks_dead", ["deadAt", "seq"])
    .where(sql<boolean>`${sql.ref("deadAt")} is not null`)
    .execute();
}
