/** Schemas of requests about quotes and transactions: one for each body and each query, the source of parsing, types and descriptions. */
import { z } from "zod";
import { MAX_NAME, name, page, time } from "./request-fields.ts";
import { addressSchema } from "../../core/address-schema.ts";

/** Most recipients a body may list; how many a transaction takes is decided later and may be fewer. */
const MAX_RECIPIENTS = 500;
const amount = z
  .string()
  .max(64)
  // The first fault is enough to say: a text that is no decimal has no value to judge.
  .regex(/^[0-9]+(\.[0-9]+)?$/, { error: 'expected a decimal string such as "12.5"', abort: true })
  .refine((text) => /[1-9]/.test(text), { error: "expected more than zero" })
  .describe('A decimal string such as "12.5": more than zero, no more decimals than the asset has.');
const wallet = addressSchema("expected a base58 address of 32 bytes");
const sender = wallet.describe("The sender's wallet, base58. In private mode every refund goes to it.");
const senderAllowOffCurve = z
  .boolean()
  .default(false)
  .describe("Private mode: true where `sender` is a vault, for which no private key signs.");

export const recipientRequest = z.strictObject({
  address: z.string().max(MAX_NAME).describe("The recipient's wallet, base58."),
  amount: amount.describe("Its share, in whole units of the output asset."),
  allowOffCurve: z
    .boolean()
    .default(false)
    .describe(
      "True where `address` is a vault that a program pays out of, such as that of a multisig. The same in the quote and in its transaction.",
    ),
});

const recipients = z
  .array(recipientRequest)
  .min(1)
  .max(MAX_RECIPIENTS)
  .describe("Of a send one, of a swap the sender, of a payroll two or more; no address twice.");
const mode = z
  .enum(["wallet", "private"])
  .default("wallet")
  .describe("`wallet`: the sender signs. `private`: the service pays on what is deposited.");
const reference = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, { error: "expected 1 to 128 visible ASCII characters" })
  .describe("What you call it: answered and sent with it. It need not be unique.");
/** In wallet mode the sender signs, which a vault cannot. */
function checkVaultSender(
  asked: { readonly mode: string; readonly sender?: unknown; readonly senderAllowOffCurve: boolean },
  context: z.RefinementCtx,
): void {
  if (!asked.senderAllowOffCurve || (asked.mode === "private" && asked.sender !== undefined)) return;
  const message =
    "only beside `sender`, in private mode: in wallet mode the sender signs, which a vault cannot";
  context.addIssue({ code: "custom", path: ["senderAllowOffCurve"], message });
}

/** POST /v1/quotes. */
export const quoteRequest = z
  .strictObject({
    inputAsset: name.describe("What is given: a symbol or a mint."),
    outputAsset: name.describe("What is got: a symbol or a mint. Another one makes it a swap."),
    amount: amount.describe("What the recipients get in all; of a swap what is given."),
    mode,
    slippageBps: z
      .number()
      .int()
      .min(1)
      .max(5_000)
      .default(100)
      .describe("How far below the quote a private swap may end, in hundredths of a percent."),
    sender: sender.optional(),
    senderAllowOffCurve,
    recipients: recipients.optional(),
    transactionVersion: z
      .literal(1)
      .optional()
      .describe(
        "1: the transaction to sign is of version 1, which takes more recipients in SOL. For a send or a payroll in wallet mode, on a chain and in a wallet that know it. Without it a legacy transaction, which every wallet can show.",
      ),
  })
  .superRefine(checkVaultSender);

/** POST /v1/transactions. */
export const transactionRequest = z
  .strictObject({
    type: z
      .enum(["send", "swap", "payroll"])
      .describe("A send has one recipient, a payroll several; a swap pays its sender."),
    quoteId: name.describe("A quote of this account that is open. It is used up."),
    inputAsset: name.optional().describe("A symbol or a mint, which must be the quote's."),
    outputAsset: name.optional().describe("A symbol or a mint, which must be the quote's."),
    mode,
    sender,
    senderAllowOffCurve,
    recipients,
    signedTransaction: z
      .string()
      .optional()
      .describe("Wallet mode needs it: the quote's transaction, signed, in base64."),
    reference: reference.optional(),
    refundOf: name
      .optional()
      .describe(
        "A paid send or payroll of this account, in either mode, that this send of wallet mode refunds: to its `sender`, in the asset that its recipients were paid, and with other refunds never more than they were paid.",
      ),
  })
  .superRefine(({ type, recipients: { length }, mode: chosen, signedTransaction, refundOf }, context) => {
    const problem = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    if (type === "payroll" && length < 2) problem("recipients", "a payroll has two recipients or more");
    if (type !== "payroll" && length !== 1) problem("recipients", `a ${type} has exactly one recipient`);
    if (chosen === "wallet" && signedTransaction === undefined) {
      problem("signedTransaction", "wallet mode needs the signed transaction in base64");
    }
    if (refundOf !== undefined && (type !== "send" || chosen !== "wallet")) {
      problem("refundOf", "only a send of wallet mode refunds a payment");
    }
  })
  .superRefine(checkVaultSender);

/** GET /v1/transactions. */
export const transactionsQuery = z.strictObject({
  status: z
    .enum(["pending", "processing", "confirmed", "completed", "failed", "cancelled"])
    .optional()
    .describe("Only those in this status."),
  type: z.enum(["send", "swap", "payroll"]).optional().describe("Only those of this type."),
  mode: z.enum(["wallet", "private"]).optional().describe("Only those in this mode."),
  asset: name.optional().describe("Only those that give or get it: a symbol or a mint."),
  sender: wallet.optional().describe("Only those of this sender."),
  quoteId: name.optional().describe("Only the one that has used this quote up."),
  refundOf: name.optional().describe("Only those that refund this payment."),
  recipient: wallet.optional().describe("Only those that pay this address."),
  reference: reference.optional().describe("Only those with this reference."),
  createdAfter: time.optional().describe("Only those taken at this time, ISO 8601 in UTC, or later."),
  createdBefore: time
    .optional()
    .describe("Only those taken before this time, ISO 8601 in UTC: what is taken at it is left out."),
  ...page,
});

const EXPORTED_DAYS = 31;
const DAY_MS = 86_400_000;

/** GET /v1/transactions/export. */
export const exportQuery = z
  .strictObject({
    from: time.describe("From this time on, ISO 8601 in UTC."),
    to: time.describe(`And before this time, at most ${EXPORTED_DAYS} days later.`),
    by: z
      .enum(["created", "final"])
      .default("created")
      .describe(
        "The time that counts: `created`, when it was taken; `final`, when its end was written down, or afterwards that its bytes have landed all the same.",
      ),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), {
    path: ["to"],
    error: "expected a time after `from`",
  })
  .refine(({ from, to }) => Date.parse(to) - Date.parse(from) <= EXPORTED_DAYS * DAY_MS, {
    path: ["to"],
    error: `expected at most ${EXPORTED_DAYS} days after \`from\``,
  });

/** GET /v1/transactions/{transactionId}. */
export const transactionQuery = z.strictObject({
  wait: z
    .number()
    .int()
    .min(0)
    .max(25)
    .default(0)
    .describe("Whole seconds until it is answered at the latest."),
});

/** A request as the caller sends it, before its checks. @interface */
export type TransactionsQuery = z.input<typeof transactionsQuery>;
/** A request as the caller sends it, before its checks. @interface */
export type ExportQuery = z.input<typeof exportQuery>;
/** A request as the caller sends it, before its checks. @interface */
export type TransactionQuery = z.input<typeof transactionQuery>;
/** A request as the caller sends it, before its checks. @interface */
export type QuoteRequest = z.input<typeof quoteRequest>;
/** A request as the caller sends it, before its checks. @interface */
export type TransactionRequest = z.input<typeof transactionRequest>;
