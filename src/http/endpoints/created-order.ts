/** The answer to POST /v1/transactions in private mode. */
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
