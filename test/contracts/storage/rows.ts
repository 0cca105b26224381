/** One row of every table of the payment service, with every field at an extreme, and another with every null. */
import type { PaymentTables } from "../../../storage/records.ts";

/** The largest amount on the chain; no integer type of either database holds it. */
const LARGEST = 2n ** 64n - 1n;

const TEXT = `ünï "quoted" 'single' \\ \n\t漢字 💸 ; drop table facts`;

const LATEST = Number.MAX_SAFE_INTEGER;

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);

type Rows = { readonly [T in keyof PaymentTables]: PaymentTables[T] };

export const fullRows: Rows = {
  facts: { id: "fact", value: TEXT },
  accounts: { id: "account", name: TEXT, tier: "enterprise", createdAt: LATEST },
  apiKeys: {
    id: "key",
    accountId: "account",
    secretHash: "ff".repeat(32),
    environment: "live",
    scopes: ["a", TEXT, ""],
    createdAt: 0,
    expiresAt: LATEST,
    revokedAt: 0,
  },
  quotes: {
    id: "quote",
    version: 41,
    accountId: "account",
    mode: "private",
    inputMint: "in",
    outputMint: "out",
    inputAmount: LARGEST,
    outputAmount: 2n ** 63n,
    minOutputAmount: 2n ** 53n + 1n,
    feeMint: "fee",
    networkFee: 0n,
    routingFee: 1n,
    rent: LARGEST,
    slippageBps: 10_000,
    sender: TEXT,
    recipients: [
      { address: "x", amount: LARGEST },
      { address: TEXT, amount: 0n },
    ],
    createdAt: 1,
    expiresAt: LATEST,
    usedBy: "transaction",
  },
  transactions: {
    id: "transaction",
    accountId: "account",
    quoteId: "quote",
    type: "payroll",
    mode: "wallet",
    sender: "sender",
    mint: "mint",
    requestHash: "hash",
    status: "completed",
    reason: TEXT,
    signature: "signature",
    blockTime: LATEST,
    fee: LARGEST,
    landedAfterCancel: true,
    broadcastAt: 0,
    cancelledAt: LATEST,
    createdAt: 1,
  },
  recipients: {
    id: "transaction:0",
    transactionId: "transaction",
    index: 0,
    address: TEXT,
    amount: LARGEST,
    status: "paid",
    signature: "signature",
  },
  attempts: {
    id: "signature",
    messageHash: "message",
    transactionId: "transaction",
    // A window on a larger buffer: what is around it is not part of the record.
    bytes: everyByte.subarray(3, 250),
    blockhash: "blockhash",
    lastValidBlockHeight: LATEST,
    createdAt: 1,
  },
  idempotency: { id: "idempotency", fingerprint: "fp", answer: `{ "a" :1.0,"ü":"\\u0000"}`, createdAt: 1 },
  notices: {
    id: "notice",
    transactionId: "transaction",
    event: "transaction.completed",
    status: "completed",
    reason: TEXT,
    signature: "signature",
    blockTime: LATEST,
    fee: LARGEST,
    body: TEXT,
    createdAt: 1,
  },
  webhooks: {
    id: "webhook",
    version: 7,
    accountId: "account",
    url: TEXT,
    events: [],
    sealedSecret: "sealed",
    createdAt: 1,
    deletedAt: LATEST,
  },
  deliveries: {
    id: "delivery",
    accountId: "account",
    webhookId: "webhook",
    noticeId: "notice",
    transactionId: "transaction",
    status: "dropped",
    attempts: 6,
    createdAt: 1,
  },
  deliveryAttempts: {
    id: "delivery:1",
    deliveryId: "delivery",
    number: 1,
    startedAt: LATEST,
    durationMs: 0,
    httpStatus: 599,
    error: TEXT,
    excerpt: "",
  },
  limitHits: { id: "hit", accountId: "account", scope: "scope", at: LATEST },
};

/** The same rows with null wherever it is allowed, and empty bytes. */
export const nullRows: Rows = {
  ...fullRows,
  apiKeys: { ...fullRows.apiKeys, scopes: [], expiresAt: null, revokedAt: null },
  quotes: { ...fullRows.quotes, sender: null, recipients: null, usedBy: null },
  transactions: {
    ...fullRows.transactions,
    reason: null,
    signature: null,
    blockTime: null,
    fee: null,
    landedAfterCancel: false,
    broadcastAt: null,
    cancelledAt: null,
  },
  recipients: { ...fullRows.recipients, signature: null },
  attempts: { ...fullRows.attempts, bytes: new Uint8Array() },
  notices: { ...fullRows.notices, reason: null, signature: null, blockTime: null, fee: null, body: null },
  webhooks: { ...fullRows.webhooks, sealedSecret: null, deletedAt: null },
  deliveryAttempts: { ...fullRows.deliveryAttempts, httpStatus: null, error: null, excerpt: null },
};
