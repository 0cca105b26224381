/** Builds the unsigned transaction of a payment. */
import {
  PACKET_DATA_SIZE,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type Message,
} from "@solana/web3.js";
import { addressOf } from "../address.ts";
import type { DeclaredPayment, UnsignedPayment } from "../ledger/ledger.ts";
import type { Move } from "../ledger/routing.ts";
import type { NodeContext } from "./ask.ts";
import { newestBlockhash } from "./blockhash-window.ts";
import { expectFewRecipients, feeOf, rentForTokenAccounts, tooManyRecipients } from "./payment-cost.ts";
import { planInstructions } from "./routing/plan-instructions.ts";

/**
 * A legacy transaction, which every wallet can show: one transfer per recipient, for tokens preceded by the idempotent
 * creation of the recipient's ATA. The creation is always there: it costs nothing when the account exists, and makes a
 * payment to a hijacked ATA (its owner changed) fail instead of paying the thief.
 *
 * Throws `RangeError` for an amount outside 1 … 2^64 − 1 and for more recipients than 1,232 bytes hold.
 */
export async function buildPayment(
  nodes: NodeContext,
  payment: DeclaredPayment,
  reference: Uint8Array,
): Promise<UnsignedPayment> {
  const { sender, mint, transfers } = payment;
  expectFewRecipients(transfers);
  const planned = planInstructions(paymentMoves(payment, reference), 0n);
  const { blockhash, lastValidBlockHeight } = await newestBlockhash(nodes);
  const message = new TransactionMessage({
    payerKey: new PublicKey(sender),
    recentBlockhash: blockhash,
    instructions: planned.map(({ instruction }) => instruction),
  });
  const { bytes, compiled } = serialize(message, transfers.length);
  const recipients = transfers.map(({ recipient }) => recipient);
  const [networkFee, rent] = await Promise.all([
    feeOf(nodes, compiled),
    rentForTokenAccounts(nodes, mint, recipients),
  ]);
  return { bytes, lastValidBlockHeight, networkFee, rent };
}

/** The payment as moves of a plan. The reference stands in the first of them. */
export function paymentMoves(payment: DeclaredPayment, reference: Uint8Array): Move[] {
  const { sender, mint, decimals, transfers } = payment;
  const toEach = { does: "transfer", from: sender, mint, decimals } as const;
  const accountPayer = mint === null ? null : sender;
  return transfers.map(({ recipient, amount }, index) => ({
    ...toEach,
    to: recipient,
    amount,
    accountPayer,
    ...(index === 0 ? { reference: addressOf(reference) } : {}),
  }));
}

function serialize(
  message: TransactionMessage,
  recipients: number,
): { bytes: Uint8Array; compiled: Message } {
  const compiled = message.compileToLegacyMessage();
  try {
    const bytes = new VersionedTransaction(compiled).serialize();
    if (bytes.length <= PACKET_DATA_SIZE) return { bytes, compiled };
  } catch (error) {
    // web3.js writes into a buffer of fixed size and lets the overrun surface.
    if (!(error instanceof RangeError)) throw error;
  }
  throw tooManyRecipients(recipients);
}
