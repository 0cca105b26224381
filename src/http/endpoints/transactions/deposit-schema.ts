/** Private mode: where the money is to be sent, how much of what, and until when. */
import { text, amount, time } from "../../contract/small-schemas.ts";
import { z } from "zod";
import { DEPOSIT_ADDRESS, DEPOSIT_EXPIRES_AT, USDC_MINT } from "../../contract/examples.ts";

/** The fields of a deposit, to be spread into an object. */
export const deposit = {
  ephemeralAddress: text(
    "The one-time deposit address. Send to it from a wallet of your own, never from an exchange: refunds go to `sender`.",
  ),
  depositAmount: amount(
    "How much to deposit: what the recipients get, and the fee. Less waits for the rest.",
  ),
  depositAsset: text("Symbol of what to deposit. SOL, USDC or USDT that was not asked for is refunded."),
  depositMint: z.string().nullable().describe("Its mint; null for SOL, which has none."),
  depositExpiresAt: time("The end of the deposit window by the chain's clock. What comes later is refunded."),
};

/** A deposit of 25.1 USDC. */
export const EXAMPLE_DEPOSIT = {
  ephemeralAddress: DEPOSIT_ADDRESS,
  depositAmount: "25.1",
  depositAsset: "USDC",
  depositMint: USDC_MINT,
  depositExpiresAt: DEPOSIT_EXPIRES_AT,
};
