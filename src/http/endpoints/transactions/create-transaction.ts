/** POST /v1/transactions. */
import { z } from "zod";
import type { CreatedTransferBody } from "../../../payments/wallet/accept-signed.ts";
import type { CreatedOrderBody } from "../../../payments/private/accept-order.ts";
import { recipientRequest, transactionRequest } from "../../../payments/requests.ts";
import { endpoint } from "../../contract/endpoint.ts";
import * as example from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text, time } from "../../contract/small-schemas.ts";
import { deposit, EXAMPLE_DEPOSIT } from "./deposit-schema.ts";

// Quotes have them, too: a schema has one name wherever it is used.
named("Recipient", recipientRequest);

const created = {
  transactionId: text("The transaction's id."),
  status: text("`pending`, also when the same request is answered again."),
  createdAt: time("When it was taken."),
};

const createdTransfer = named(
  "CreatedWalletTransaction",
  z
    .object({
      ...created,
      mode: z.literal("wallet"),
      signature: text("The transaction's own first signature, known before it is broadcast."),
    })
    .describe("Wallet mode: the signed transaction was taken and is broadcast at once."),
) satisfies z.ZodType<CreatedTransferBody>;

const createdOrder = named(
  "CreatedPrivateTransaction",
  z
    .object({ ...created, mode: z.literal("private"), ...deposit })
    .describe("Private mode: the service waits for the deposit and then pays."),
) satisfies z.ZodType<CreatedOrderBody>;

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
};

export const createTransaction = endpoint({
  method: "POST",
  path: "/v1/transactions",
  operationId: "createTransaction",
  tag: "Transactions",
  scope: "transactions:write",
  limit: "creates",
  summary: "Takes a send, a payroll or a swap.",
  description: `In wallet mode the caller supplies the signed transaction of the quote, which is broadcast at once.

In private mode it supplies none: the answer names a one-time deposit address, and what is deposited there is paid on, in 30 to 120 seconds once it is final. It is custodial while it lasts: the operator holds the money, knows the link between sender and recipients, and keeps it; amounts and the one hop are public. It is not anonymous. Never deposit from an exchange: every refund goes to \`sender\`, never to the address that paid.

A \`send\` has one recipient. A \`payroll\` has two or more, each with its own \`status\` in the end: those who cannot be paid do not keep the others from it, the transaction ends as \`failed\` with the reason PARTIAL_PAYOUT, and the rest is refunded. A \`swap\` pays its \`sender\`; a private one is priced again when it is signed, and is refunded below the quote's \`minOutputAmount\`.

A body with an unknown field is refused. Only a 201 uses a quote up.`,
  body: {
    schema: named("TransactionRequest", transactionRequest),
    examples: {
      wallet: { ...EXAMPLE_REQUEST, mode: "wallet", signedTransaction: example.TRANSACTION_BASE64 },
      private: { ...EXAMPLE_REQUEST, mode: "private", reference: "invoice-2027-0131" },
    },
  },
  answer: {
    status: 201,
    schema: named("CreatedTransaction", z.union([createdTransfer, createdOrder])),
    examples: {
      wallet: { ...EXAMPLE_CREATED, mode: "wallet", signature: example.SIGNATURE },
      private: { ...EXAMPLE_CREATED, mode: "private", ...EXAMPLE_DEPOSIT },
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
