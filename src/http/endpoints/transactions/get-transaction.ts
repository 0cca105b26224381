/** GET /v1/transactions/{transactionId}. */
import { transactionQuery } from "../../../payments/requests.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { EXAMPLE_TRANSACTION, transaction } from "./transaction-schema.ts";

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
  answer: { status: 200, schema: transaction, examples: { completed: EXAMPLE_TRANSACTION } },
  errors: ["TRANSACTION_NOT_FOUND"],
  serve: async (call) => {
    const { service, caller, query } = call;
    // The signal is made when it is asked for, and only waiting needs it.
    const options = query.wait === undefined ? query : { ...query, signal: call.signal };
    return fresh(await service.transaction(caller, call.path.transactionId, options));
  },
});
