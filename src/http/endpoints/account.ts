/** The endpoint of the account behind a key. */
import { accountSchema } from "../../payments/modules.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";

export const getAccount = endpoint({
  method: "GET",
  path: "/v1/account",
  operationId: "getAccount",
  tag: "Account",
  scope: "any",
  limit: "reads",
  summary: "The account behind the key: what it may do, and what is left of its limits.",
  answer: {
    status: 200,
    schema: accountSchema,
    examples: {
      free: {
        accountId: "acct_7",
        tier: "free",
        scopes: ["tokens:read", "transactions:read"],
        limits: [{ scope: "reads", limit: 120, windowSeconds: 60, remaining: 119, resetSeconds: 60 }],
        webhooks: { limit: 3, current: 1 }, // modules: webhooks
      },
    },
  },
  errors: [],
  serve: async (call) => {
    const counted = await call.service.account(call.caller);
    return fresh({ ...counted, limits: [...call.standings(), ...counted.limits] });
  },
});
