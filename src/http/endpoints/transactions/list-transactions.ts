/** GET /v1/transactions. */
import { z } from "zod";
import type { Page } from "../../../payments/page.ts";
import type { TransactionBody } from "../../../payments/transactions/read-transaction.ts";
import { transactionsQuery } from "../../../payments/requests.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { named } from "../../contract/named-schema.ts";
import { pageOf } from "../../contract/small-schemas.ts";
import { EXAMPLE_TRANSACTION, transaction } from "./transaction-schema.ts";

const transactions = named(
  "TransactionPage",
  pageOf(transaction).extend({
    nextAfter: z
      .string()
      .exactOptional()
      .describe(
        "Where a page ended early, since few of the 1,000 transactions that it looked through fit the filters: `startingAfter` of the next page, in place of the last id of this one, which may be empty.",
      ),
  }),
) satisfies z.ZodType<Page<TransactionBody>>;

export const listTransactions = endpoint({
  method: "GET",
  path: "/v1/transactions",
  operationId: "listTransactions",
  tag: "Transactions",
  scope: "transactions:read",
  limit: "reads",
  summary: "The account's transactions, newest first.",
  description: "Those that fit every filter that is given; `recipient` is the address of any recipient.",
  query: transactionsQuery,
  answer: {
    status: 200,
    schema: transactions,
    examples: { page: { data: [EXAMPLE_TRANSACTION], hasMore: false } },
  },
  errors: [],
  serve: async ({ service, caller, query, signal }) =>
    fresh(await service.listTransactions(caller, { ...query, signal })),
});
