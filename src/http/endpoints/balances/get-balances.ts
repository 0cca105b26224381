/** GET /v1/balances/{address}. */
import { z } from "zod";
import type { BalancesBody } from "../../../payments/assets/read-balances.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { SENDER, USDC_MINT } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { amount, text } from "../../contract/small-schemas.ts";

const tokenBalance = named(
  "TokenBalance",
  z.object({
    mint: text("The address of its mint."),
    symbol: text("Its short name; empty for a mint that has none."),
    balance: amount("In whole units."),
    decimals: z.int().describe("The decimals of the mint."),
  }),
);

const balances = named(
  "Balance",
  z.object({
    address: text("As it was asked for."),
    sol: amount("In SOL."),
    tokens: z.array(tokenBalance).describe("The stablecoins, and each Token-2022 mint for display only."),
  }),
) satisfies z.ZodType<BalancesBody>;

export const getBalances = endpoint({
  method: "GET",
  path: "/v1/balances/{address}",
  operationId: "getBalances",
  tag: "Assets",
  scope: "balances:read",
  limit: "reads",
  summary: "What an address holds.",
  description: "At commitment confirmed. An address that was never used has `sol` 0 and no tokens.",
  answer: {
    status: 200,
    schema: balances,
    examples: {
      balances: {
        address: SENDER,
        sol: "1.5",
        tokens: [{ mint: USDC_MINT, symbol: "USDC", balance: "250.75", decimals: 6 }],
      },
    },
  },
  errors: ["INVALID_ADDRESS", "UPSTREAM_ERROR"],
  serve: async ({ service, path: { address } }) => fresh(await service.balances(address)),
});
