/** GET /v1/tokens. */
import { z } from "zod";
import type { Token } from "../../../payments/assets/assets.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { USDC_MINT } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text } from "../../contract/small-schemas.ts";

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
