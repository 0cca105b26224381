/** A transaction as its owner sees it, and what is to be deposited for one in private mode. */
import { z } from "zod";
import { attentionFields } from "../attention.ts";
import { text, amount, time, named } from "../body-schemas.ts";
import { factFields } from "../quotes/transaction-facts.ts";
import type { Immutable } from "../../../core/immutable.ts";
import { vaultMark } from "../quotes/quote-schema.ts";

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

const recipient = named(
  "TransactionRecipient",
  z.object({
    address: text("The owner who is paid."),
    allowOffCurve: vaultMark,
    amount: amount(
      "Its share. Of a private swap the quoted estimate until it is paid, then what was paid. Of a wallet's swap what its transaction brings at least.",
    ),
    status: z
      .enum(["pending", "confirmed", "paid", "unpaid"])
      .describe(
        "`paid` and `unpaid` are final. A private payroll pays each recipient or not; those who cannot be paid do not keep the others from it.",
      ),
    signature: z.string().nullable().describe("Of the transaction that paid this recipient."),
  }),
);

const refund = named(
  "Refund",
  z.object({
    asset: text("Symbol, wSOL, or the mint of a token that is none of the service's assets."),
    amount: amount("What goes back, its own cost taken off."),
    cost: amount("What it withholds for its own cost on the chain."),
    to: text("Who gets it."),
    signature: z.string().nullable(),
    status: z.enum(["pending", "paid", "held"]).describe("`held`: it waits for the operator."),
  }),
);

const received = named(
  "ReceivedMoney",
  z.object({
    asset: text(
      "Symbol; wSOL is wrapped SOL, which is a token. Of a token that is none of the service's assets its mint.",
    ),
    mint: text("Its mint; of SOL, too, that of wrapped SOL."),
    amount: amount("In whole units, as `decimals` has them."),
    decimals: z
      .int()
      .nullable()
      .describe(
        "The decimals of the mint. Null while those of a token that is none of the service's assets are unknown: then `amount` is in base units.",
      ),
    payer: z
      .string()
      .nullable()
      .describe(
        "The wallet that gave all of it, by the chain's own record; null while that is not read, and where more than one gave. It may be an exchange's: nothing is ever sent back to it.",
      ),
    signature: z
      .string()
      .nullable()
      .describe(
        "The transaction that brought it. Null while no node has listed it: amounts are told from balances.",
      ),
    counted: z.boolean().describe("Whether it counts towards `depositAmount`. What does not goes back."),
  }),
);

const unreturnedMoney = named(
  "UnreturnedMoney",
  z.object({
    asset: text("Symbol."),
    amount: amount("In whole units."),
    reason: z
      .enum(["dust", "held", "under_way", "account", "missing"])
      .describe(
        "`under_way`: it goes on by itself. `held`: it waits for the operator. `dust`: it is not worth a transaction. `account`: a recipient closed a token account while it was paid, and this made the account anew. `missing`: it has left the address, and this service has not sent it; or it was written off.",
      ),
  }),
);

/** A transaction. */
export const transactionSchema = named(
  "Transaction",
  z.object({
    transactionId: text("The transaction's id."),
    status: z
      .enum(["pending", "processing", "confirmed", "completed", "failed", "cancelled"])
      .describe(
        "Wallet: pending, confirmed, completed or failed. Private: pending (waiting for the deposit), processing (deposited and final; paying or refunding), confirmed (all payouts confirmed), completed (all final) or failed. cancelled only from pending. It never goes back.",
      ),
    signature: z.string().nullable().describe("Wallet: of the given bytes. Private: of the last payout."),
    blockTime: z.int().nullable().describe("Unix seconds of the last payment, once final."),
    fee: amount(
      "Wallet: in SOL, as paid. Private: in what was deposited, as quoted and kept whole; 0 where it was not taken. Null while that is open.",
    ).nullable(),
    type: z.enum(["send", "payroll", "swap"]),
    mode: z.enum(["wallet", "private"]),
    ...factFields,
    senderAllowOffCurve: vaultMark,
    recipients: z.array(recipient),
    reason: z
      .string()
      .nullable()
      .describe(
        "Why it failed. Wallet mode: transaction_error or expired. Private mode: DEPOSIT_TIMEOUT (nothing came), INCOMPLETE_DEPOSIT (too little, refunded), PARTIAL_PAYOUT (some recipients could not be paid; the rest is refunded), PAYOUT_FAILED (none could), SLIPPAGE_EXCEEDED and LIQUIDITY_UNAVAILABLE (swaps), DECLINED (by a person) or REFUSED (decided by another copy of this service).",
      ),
    signatures: z.array(z.string()).describe("Every transaction that pays recipients."),
    refunds: z
      .array(refund)
      .describe("Private mode: what goes back to `sender`, never to the address that paid."),
    refundOf: z.string().nullable().describe("The payment that it refunds."),
    refundedAmount: amount("What wallet sends with its id as `refundOf` have paid back, once final."),
    refundedBy: z
      .array(z.string())
      .describe("Every such send that was taken, oldest first; each has a status of its own."),
    createdAt: time("When it was taken."),
    cancelledAt: time("When it was cancelled.").nullable(),
    ephemeralAddress: deposit.ephemeralAddress.exactOptional(),
    depositAmount: deposit.depositAmount.exactOptional(),
    depositAsset: deposit.depositAsset.exactOptional(),
    depositMint: deposit.depositMint.exactOptional(),
    depositExpiresAt: deposit.depositExpiresAt.exactOptional(),
    reference: z.string().nullable().describe("As it was given."),
    ...attentionFields,
    received: z.array(received).describe("Private mode: everything that came, oldest first.").exactOptional(),
    unreturned: z
      .array(unreturnedMoney)
      .describe(
        "Private mode: what came and is neither paid, in `refunds` (amount and cost) nor kept as `fee`. With these every asset adds up to what was received.",
      )
      .exactOptional(),
    remainingAmount: amount("Private mode: what is still to be deposited.").exactOptional(),
    paymentUri: z
      .string()
      .nullable()
      .describe(
        "Private mode: `remainingAmount` as a Solana Pay transfer request. Null once nothing is waited for.",
      )
      .exactOptional(),
    landedAfterCancel: z
      .literal(true)
      .describe("It landed although it was cancelled here, or judged to be past landing.")
      .exactOptional(),
  }),
);

/** The answer to GET /v1/transactions/{id}: first the five original fields of every transaction, then the fields added later. @interface */
export type TransactionBody = Immutable<z.output<typeof transactionSchema>>;
