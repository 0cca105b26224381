/** The endpoint of the account behind a key. */
import { z } from "zod";
import type { AccountBody } from "../../payments/accounts/read-account.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";
import { named, text } from "../contract/schemas.ts";

const limit = named(
  "Limit",
  z.object({
    scope: text("As the RateLimit headers name it."),
    limit: z.int(),
    windowSeconds: z.int(),
    remaining: z.int(),
    resetSeconds: z.int().describe("Until the oldest counted request leaves the window."),
  }),
);

const account = named(
  "Account",
  z.object({
    accountId: text("The account's id."),
    tier: z.enum(["free", "pro", "enterprise"]),
    scopes: z.array(z.string()).describe("What this key is allowed to do."),
    limits: z.array(limit).describe("How many requests there may be, and what is left of them."),
    webhooks: z.object({ limit: z.int(), current: z.int() }).describe("Registered webhooks."),
  }),
) satisfies z.ZodType<AccountBody>;

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
    schema: account,
    examples: {
      free: {
        accountId: "acct_7",
        tier: "free",
        scopes: ["tokens:read", "transactions:read"],
        limits: [{ scope: "reads", limit: 120, windowSeconds: 60, remaining: 119, resetSeconds: 60 }],
        webhooks: { limit: 3, current: 1 },
      },
    },
  },
  errors: [],
  serve: async (call) => {
    const counted = await call.service.account(call.caller);
    return fresh({ ...counted, limits: [...call.standings(), ...counted.limits] });
  },
});
