/** Endpoints of transactions: create, read, list, cancel. */
import { z } from "zod";
import type { CreatedTransferBody } from "../../payments/frame/signed/accept-signed.ts";
import { createdFields } from "./created-transaction.ts";
import { createdOrder, EXAMPLE_ORDER, EXAMPLE_ORDER_REQUEST, ORDER_DESCRIPTION } from "./created-order.ts";
import {
  exportQuery,
  recipientRequest,
  transactionRequest,
  transactionsQuery,
  transactionQuery,
} from "../../payments/frame/requests.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";
import * as example from "../contract/examples.ts";
import { SETTLED_AT, TRANSACTION_ID } from "../contract/examples.ts";
import { named, text, pageOf } from "../../payments/frame/body-schemas.ts";
import { transactionSchema } from "../../payments/frame/transactions/transaction-schema.ts";
import { cancelledTransaction } from "../../payments/frame/transactions/cancel-transaction.ts";

// Quotes have them, too: a schema has one name wherever it is used.
named("Recipient", recipientRequest);

const createdTransfer = named(
  "CreatedWalletTransaction",
  z
    .object({
      ...createdFields,
      mode: z.literal("wallet"),
      signature: text("The transaction's own first signature, known before it is broadcast."),
    })
    .describe("Wallet mode: the signed transaction was taken and is broadcast at once."),
) satisfies z.ZodType<CreatedTransferBody>;

// A line for each module, which goes with the module.
// prettier-ignore
const CREATED = [
  createdTransfer,
  createdOrder,
] as const;

const EXAMPLE_FACTS = {
  sender: example.SENDER,
  quoteId: example.QUOTE_ID,
  inputAsset: "USDC",
  inputMint: example.USDC_MINT,
  inputAmount: "25",
  outputAsset: "USDC",
  outputMint: example.USDC_MINT,
  outputAmount: "25",
} as const;

const EXAMPLE_TRANSACTION = {
  transactionId: example.TRANSACTION_ID,
  status: "completed",
  signature: example.SIGNATURE,
  blockTime: example.SETTLED_SECONDS,
  fee: "0.000005",
  type: "send",
  mode: "wallet",
  ...EXAMPLE_FACTS,
  recipients: [{ address: example.RECIPIENT, amount: "25", status: "paid", signature: example.SIGNATURE }],
  reason: null,
  signatures: [example.SIGNATURE],
  refunds: [],
  refundOf: null,
  refundedAmount: "0",
  refundedBy: [],
  createdAt: example.CREATED_AT,
  cancelledAt: null,
  reference: "invoice-2027-0131",
  attention: null,
  attentionMessage: null,
} as const;

const EXAMPLE_REQUEST = {
  type: "send",
  quoteId: example.QUOTE_ID,
  sender: example.SENDER,
  recipients: [{ address: example.RECIPIENT, amount: "25" }],
} as const;

const EXAMPLE_CREATED = {
  transactionId: example.TRANSACTION_ID,
  status: "pending",
  createdAt: example.CREATED_AT,
  ...EXAMPLE_FACTS,
};

export const createTransaction = endpoint({
  method: "POST",
  path: "/v1/transactions",
  operationId: "createTransaction",
  tag: "Transactions",
  scope: "transactions:write",
  limit: "creates",
  summary: "Takes a send, a payroll or a swap.",
  description: [
    "In wallet mode the caller supplies the signed transaction of the quote, which is broadcast at once.",
    ORDER_DESCRIPTION,
    "A `send` has one recipient. A `payroll` has two or more, each with its own `status` in the end: those who cannot be paid do not keep the others from it, the transaction ends as `failed` with the reason PARTIAL_PAYOUT, and the rest is refunded. A `swap` pays its `sender`; a private one is priced again when it is signed, and is refunded below the quote's `minOutputAmount`.",
    "A `send` in wallet mode with `refundOf` pays a payment back to its `sender`, from any wallet, in whole or in parts (100 at most). All refunds of a payment together are never more than its recipients were paid. A refund counts from the moment when it is taken until its bytes are proved dead or have failed on the chain: a cancel alone frees nothing.",
    "A body with an unknown field is refused. Only a 201 uses a quote up.",
  ].join("\n\n"),
  body: {
    schema: named("TransactionRequest", transactionRequest),
    examples: {
      wallet: { ...EXAMPLE_REQUEST, mode: "wallet", signedTransaction: example.TRANSACTION_BASE64 },
      private: { ...EXAMPLE_REQUEST, ...EXAMPLE_ORDER_REQUEST },
    },
  },
  answer: {
    status: 201,
    schema: named("CreatedTransaction", z.union(CREATED)),
    examples: {
      wallet: { ...EXAMPLE_CREATED, mode: "wallet", signature: example.SIGNATURE },
      private: { ...EXAMPLE_CREATED, ...EXAMPLE_ORDER },
    },
  },
  errors: [
    "INVALID_RECIPIENT",
    "INVALID_SIGNATURE",
    "ACCOUNT_SUSPENDED",
    "DUPLICATE_TRANSACTION",
    "INVALID_QUOTE",
    "INSUFFICIENT_BALANCE",
    "TRANSACTION_WOULD_FAIL",
    "AMOUNT_TOO_SMALL",
    "AMOUNT_TOO_LARGE",
    "INSUFFICIENT_LIQUIDITY",
    "VOLUME_LIMIT_EXCEEDED",
    "UPSTREAM_ERROR",
    "SERVICE_PAUSED",
    "ROUTING_UNAVAILABLE",
  ],
  location: ({ transactionId }) => `/v1/transactions/${transactionId}`,
  serve: ({ service, caller, body, options }) => service.createTransaction(caller, body, options),
});

const transactions = named(
  "TransactionPage",
  pageOf(transactionSchema).extend({
    nextAfter: z
      .string()
      .exactOptional()
      .describe(
        "Where a page ended early, since few of the 1,000 transactions that it looked through fit the filters: `startingAfter` of the next page, in place of the last id of this one, which may be empty.",
      ),
  }),
);

export const listTransactions = endpoint({
  method: "GET",
  path: "/v1/transactions",
  operationId: "listTransactions",
  tag: "Transactions",
  scope: "transactions:read",
  limit: "reads",
  summary: "The account's transactions, newest first.",
  description:
    "Those that fit every filter that is given; `recipient` is the address of any recipient, `asset` is on either side. Windows from `createdAfter` to `createdBefore`, laid end to end, tell each transaction once.",
  query: transactionsQuery,
  answer: {
    status: 200,
    schema: transactions,
    examples: { page: { data: [EXAMPLE_TRANSACTION], hasMore: false } },
  },
  errors: ["INVALID_ASSET"],
  serve: async ({ service, caller, query, signal }) =>
    fresh(await service.listTransactions(caller, { ...query, signal })),
});

const EXAMPLE_EXPORT = [
  "transactionId,createdAt,finalAt,blockTime,type,mode,status,reason,kind,asset,mint,amount,address,outputAsset,outputAmount,signature,sender,quoteId,reference,refundOf",
  `${example.TRANSACTION_ID},${example.CREATED_AT},${SETTLED_AT},${example.SETTLED_SECONDS},send,wallet,completed,,payment,USDC,${example.USDC_MINT},25,${example.RECIPIENT},USDC,25,${example.SIGNATURE},${example.SENDER},${example.QUOTE_ID},invoice-2027-0131,`,
  "#end,1",
].join("\r\n");

export const exportTransactions = endpoint({
  method: "GET",
  path: "/v1/transactions/export",
  operationId: "exportTransactions",
  tag: "Transactions",
  scope: "transactions:read",
  limit: "reads",
  summary: "The sums of up to 31 days, for the books.",
  description: `CSV by RFC 4180, the oldest transaction first, a row for each sum. Its \`kind\` is \`payment\` (what a recipient was paid, in what was given for it; \`outputAsset\` and \`outputAmount\` are what it got), \`fee\`, \`refund\`, \`excess\` (a refund of what came beyond the deposit of an order that was paid) or \`cost\` (what a refund has cost, which was withheld). For each asset of a private order the \`amount\`s add up to what came, but for what is not returned yet, which has no row.

The last line is \`#end,\` and the number of rows between it and the header: without it the export is not whole, and is asked for again. A text that begins with \`=\`, \`+\`, \`-\` or \`@\` has an apostrophe in front. An account has one export at a time in a process of the service, and another one takes its place once it was not read for a minute. A refund that becomes final later stands in a later export of the same time.`,
  query: exportQuery,
  answer: {
    status: 200,
    mediaType: "text/csv",
    schema: z.string().describe("CSV in UTF-8."),
    examples: { export: EXAMPLE_EXPORT },
  },
  errors: [],
  serve: async ({ service, caller, query }) => {
    return { body: "", text: await service.exportTransactions(caller, query), replayed: false };
  },
});

export const getTransaction = endpoint({
  method: "GET",
  path: "/v1/transactions/{transactionId}",
  operationId: "getTransaction",
  tag: "Transactions",
  scope: "transactions:read",
  limit: "reads",
  summary: "A transaction as it stands.",
  description:
    "With `wait`, so many whole seconds, it is answered when the status changes, or after that time; at once when it is final.",
  query: transactionQuery,
  answer: { status: 200, schema: transactionSchema, examples: { completed: EXAMPLE_TRANSACTION } },
  errors: ["TRANSACTION_NOT_FOUND"],
  serve: async (call) => {
    const { service, caller, query } = call;
    // The signal is made when it is asked for, and only waiting needs it.
    const options = query.wait === undefined ? query : { ...query, signal: call.signal };
    return fresh(await service.transaction(caller, call.path.transactionId, options));
  },
});

export const cancelTransaction = endpoint({
  method: "DELETE",
  path: "/v1/transactions/{transactionId}",
  operationId: "cancelTransaction",
  tag: "Transactions",
  scope: "transactions:write",
  limit: "cancel",
  summary: "Cancels a transaction that is pending.",
  description:
    "In wallet mode until its broadcast begins. In private mode until a deposit of the expected asset is seen, for which the chain is asked at that moment: when it cannot be asked, nothing is changed.",
  answer: {
    status: 200,
    schema: cancelledTransaction,
    examples: { cancelled: { transactionId: TRANSACTION_ID, status: "cancelled", cancelledAt: SETTLED_AT } },
  },
  errors: [
    "UNAUTHORIZED",
    "TRANSACTION_NOT_FOUND",
    "CANNOT_CANCEL",
    "ALREADY_PROCESSED",
    "UPSTREAM_ERROR",
    // For a private order, while private mode is off.
    "ROUTING_UNAVAILABLE",
  ],
  serve: async ({ service, caller, path: { transactionId }, options }) =>
    fresh(await service.cancelTransaction(caller, transactionId, options)),
});
