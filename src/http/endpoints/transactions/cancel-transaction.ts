/** DELETE /v1/transactions/{transactionId}. */
import { z } from "zod";
import type { CancelledTransactionBody } from "../../../payments/transactions/cancel-transaction.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { SETTLED_AT, TRANSACTION_ID } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text, time } from "../../contract/small-schemas.ts";

const cancelled = named(
  "CancelledTransaction",
  z.object({
    transactionId: text("The transaction's id."),
    status: z.literal("cancelled"),
    cancelledAt: time("When it was cancelled."),
  }),
) satisfies z.ZodType<CancelledTransactionBody>;

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
    schema: cancelled,
    examples: { cancelled: { transactionId: TRANSACTION_ID, status: "cancelled", cancelledAt: SETTLED_AT } },
  },
  errors: [
    "UNAUTHORIZED",
    "TRANSACTION_NOT_FOUND",
    "CANNOT_CANCEL",
    "ALREADY_PROCESSED",
    "UPSTREAM_ERROR",
    // Of a private order, while private mode is not turned on.
    "ROUTING_UNAVAILABLE",
  ],
  serve: async ({ service, caller, path: { transactionId }, options }) =>
    fresh(await service.cancelTransaction(caller, transactionId, options)),
});
