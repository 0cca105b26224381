/** Builds the unsigned transaction of a payment. */
import {
  ASSOCIATED_TOKEN_PROGRAM_ID,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import {
  PACKET_DATA_SIZE,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type Message,
  type TransactionInstruction,
} from "@solana/web3.js";
import { MAX_AMOUNT } from "../amount.ts";
import type { DeclaredPayment, UnsignedPayment } from "../ledger/ledger.ts";
import type { Nodes } from "./ask.ts";
import { newestBlockhash } from "./blockhash-window.ts";
import { expectFewRecipients, feeOf, rentForTokenAccounts, tooManyRecipients } from "./payment-cost.ts";
import { associatedTokenAccount } from "./associated-token-account.ts";

/**
 * A legacy transaction, which every wallet can show: one transfer per recipient, for tokens preceded by the idempotent
 * creation of the recipient's ATA. The creation is always there: it costs nothing when the account exists, and makes a
 * payment to a hijacked ATA (its owner changed) fail instead of paying the thief.
 *
 * Throws `RangeError` for an amount outside 1 … 2^64 − 1 and for more recipients than 1,232 bytes hold.
 */
export async function buildPayment(
  nodes: Nodes,
  payment: DeclaredPayment,
  reference: Uint8Array,
): Promise<UnsignedPayment> {
  const { sender, mint, transfers } = payment;
  expectFewRecipients(transfers);
  const instructions = paymentInstructions(payment);
  referTo(reference, instructions);
  const { blockhash, lastValidBlockHeight } = await newestBlockhash(nodes);
  const message = new TransactionMessage({
    payerKey: new PublicKey(sender),
    recentBlockhash: blockhash,
    instructions,
  });
  const { bytes, compiled } = serialize(message, transfers.length);
  const recipients = transfers.map(({ recipient }) => recipient);
  const [networkFee, rent] = await Promise.all([
    feeOf(nodes, compiled),
    rentForTokenAccounts(nodes, mint, recipients),
  ]);
  return { bytes, lastValidBlockHeight, networkFee, rent };
}

/**
 * Adds a read-only key behind the accounts of the first transfer, which the programs ignore (Solana Pay's reference). It
 * makes equal payments differ, and a payment can be found by it.
 */
function referTo(reference: Uint8Array, instructions: readonly TransactionInstruction[]): void {
  const first = instructions.find(({ programId }) => !programId.equals(ASSOCIATED_TOKEN_PROGRAM_ID));
  first?.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
}

/** The instructions of a payment, in the order of its transfers. */
export function paymentInstructions({
  sender,
  mint,
  decimals,
  transfers,
}: DeclaredPayment): TransactionInstruction[] {
  // Both libraries encode what does not fit silently as another amount: 2^64 becomes 0, -1 becomes 1.
  for (const { amount } of transfers) {
    if (amount < 1n || amount > MAX_AMOUNT) {
      throw new RangeError(`an amount must be 1 to 2^64 - 1, got ${amount}`);
    }
  }
  const from = new PublicKey(sender);
  if (mint === null) {
    return transfers.map(({ recipient, amount }) =>
      SystemProgram.transfer({ fromPubkey: from, toPubkey: new PublicKey(recipient), lamports: amount }),
    );
  }
  const asset = new PublicKey(mint);
  const source = new PublicKey(associatedTokenAccount(sender, mint));
  return transfers.flatMap(({ recipient, amount }) => {
    const destination = new PublicKey(associatedTokenAccount(recipient, mint));
    return [
      createAssociatedTokenAccountIdempotentInstruction(from, destination, new PublicKey(recipient), asset),
      createTransferCheckedInstruction(source, asset, destination, from, amount, decimals),
    ];
  });
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
