/** Endpoints of assets: what can be paid, and what an address holds. */
import { z } from "zod";
import type { Token } from "../../payments/frame/assets/assets.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";
import { USDC_MINT, SENDER } from "../contract/examples.ts";
import { named, text, amount } from "../../payments/frame/body-schemas.ts";
import type { BalancesBody } from "../../payments/frame/assets/read-balances.ts";

const token = named(
  "Token",
  z.object({
    symbol: text("Its short name, by which quotes may name it."),
    name: text("Its full name."),
    mint: text("The address of its mint; of SOL that of wrapped SOL."),
    decimals: z.int().describe("How many decimals an amount of it may have."),
    logoUri: text("Where its logo is."),
  }),
) satisfies z.ZodType<Omit<Token, "mint"> & { mint: string }>;

export const listTokens = endpoint({
  method: "GET",
  path: "/v1/tokens",
  operationId: "listTokens",
  tag: "Assets",
  scope: "tokens:read",
  limit: "reads",
  summary: "The assets that can be paid.",
  description: "All of them at once: the list is short and is not paged.",
  answer: {
    status: 200,
    schema: named("TokenList", z.object({ tokens: z.array(token) })),
    examples: {
      tokens: {
        tokens: [
          {
            symbol: "USDC",
            name: "USD Coin",
            mint: USDC_MINT,
            decimals: 6,
            logoUri: "https://assets.example/usdc.svg",
          },
        ],
      },
    },
  },
  errors: [],
  serve: async ({ service }) => fresh(service.tokens()),
});

const tokenBalance = named(
  "TokenBalance",
  z.object({
    mint: text("The address of its mint."),
    symbol: text(
      "Its short name. Empty for a mint that has none, and for one that is not the asset whose name it looks like: by its `mint` alone an asset is known.",
    ),
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
