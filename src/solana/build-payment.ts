/** Builds the unsigned transaction of a payment. */
import {
  ComputeBudgetProgram,
  PACKET_DATA_SIZE,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { addressOf } from "../address.ts";
import type { DeclaredPayment, UnsignedPayment } from "../ledger/ledger.ts";
import type { Move } from "../ledger/routing.ts";
import type { NodeContext } from "./ask.ts";
import { newestBlockhash } from "./blockhash-window.ts";
import { expectFewRecipients, feeWithBid, rentForTokenAccounts, tooManyRecipients } from "./payment-cost.ts";
import { paymentBid } from "./price-payment.ts";
import { planInstructions } from "./routing/plan-instructions.ts";

/**
 * A legacy transaction, which every wallet can show: one transfer per recipient, for tokens preceded by the idempotent
 * creation of the recipient's ATA. The creation is always there: it costs nothing when the account exists, and makes a
 * payment to a hijacked ATA (its owner changed) fail instead of paying the thief. Before them stand a compute limit and a
 * bid for a place in a block.
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
  const instructions = planned.map(({ instruction }) => instruction);
  const { units, microLamports, priorityFee } = await paymentBid(nodes, planned);
  const { blockhash, lastValidBlockHeight } = await newestBlockhash(nodes);
  const over = { payerKey: new PublicKey(sender), recentBlockhash: blockhash };
  const message = new TransactionMessage({
    ...over,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
      ...instructions,
    ],
  });
  const bytes = serialize(message, transfers.length);
  const withoutBid = new TransactionMessage({ ...over, instructions }).compileToLegacyMessage();
  const recipients = transfers.map(({ recipient }) => recipient);
  const [networkFee, rent] = await Promise.all([
    feeWithBid(nodes, withoutBid, priorityFee),
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

function serialize(message: TransactionMessage, recipients: number): Uint8Array {
  try {
    const bytes = new VersionedTransaction(message.compileToLegacyMessage()).serialize();
    if (bytes.length <= PACKET_DATA_SIZE) return bytes;
  } catch (error) {
    // web3.js writes into a buffer of fixed size and lets the overrun surface.
    if (!(error instanceof RangeError)) throw error;
  }
  throw tooManyRecipients(recipients);
}
