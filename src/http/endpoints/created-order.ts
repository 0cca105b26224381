/** The part of the document that private mode adds: its answer to POST /v1/transactions, and its examples. */
// modules: private
import { z } from "zod";
import { named, text } from "../../payments/frame/body-schemas.ts";
import { deposit } from "../../payments/frame/transactions/transaction-schema.ts";
import type { CreatedOrderBody } from "../../payments/private/accept-order.ts";
import * as example from "../contract/examples.ts";
import { createdFields } from "./created-transaction.ts";

export const createdOrder = named(
  "CreatedPrivateTransaction",
  z
    .object({
      ...createdFields,
      mode: z.literal("private"),
      ...deposit,
      paymentUri: text(
        "The deposit as a Solana Pay transfer request, for a link or a QR code. Its `reference` is a key of this order alone, by which `received` names the transaction that named it; its label is the order's own `reference`, or else the transaction's id. For USDC and USDT the wallet has to make the token account of the deposit address, which not every wallet does.",
      ),
    })
    .describe("Private mode: the service waits for the deposit and then pays."),
) satisfies z.ZodType<CreatedOrderBody>;

/** The paragraph about private mode. */
export const ORDER_DESCRIPTION =
  "In private mode it supplies none: the answer names a one-time deposit address, and what is deposited there is paid on, in 30 to 120 seconds once it is final. It is custodial while it lasts: the operator holds the money, knows the link between sender and recipients, and keeps it; amounts and the one hop are public. It is not anonymous. Never deposit from an exchange: every refund goes to `sender`, never to the address that paid.";

export const EXAMPLE_ORDER_REQUEST = { mode: "private", reference: "invoice-2027-0131" } as const;

/** A quote request of a private swap. */
export const EXAMPLE_SWAP_QUOTE = {
  inputAsset: "SOL",
  outputAsset: "USDC",
  amount: "1.5",
  mode: "private",
  slippageBps: 50,
} as const;

export const EXAMPLE_ORDER = {
  mode: "private",
  inputAmount: "25.1",
  ephemeralAddress: example.DEPOSIT_ADDRESS,
  depositAmount: "25.1",
  depositAsset: "USDC",
  depositMint: example.USDC_MINT,
  depositExpiresAt: example.DEPOSIT_EXPIRES_AT,
  paymentUri: `solana:${example.DEPOSIT_ADDRESS}?amount=25.1&spl-token=${example.USDC_MINT}&reference=${example.REFERENCE_KEY}&label=${example.TRANSACTION_ID}`,
} as const;
