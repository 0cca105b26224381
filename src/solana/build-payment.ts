/** Builds the unsigned transaction of a payment. */
import {
  ComputeBudgetProgram,
  MessageV1,
  PACKET_DATA_SIZE,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from "@solana/web3.js";
import { addressOf } from "../core/address.ts";
import type { DeclaredPayment, UnsignedPayment, WantedPayment } from "../ledger/ledger.ts";
import type { Move } from "../ledger/routing.ts";
import { joinTransaction } from "../ledger/wire-format.ts";
import type { NodeContext } from "./ask.ts";
import { newestBlockhash } from "./blockhash-window.ts";
import { keepsLimits, MAX_LOADED_BYTES, serializeMessage } from "./message-v1.ts";
import { mostRecipients } from "./compute-budget.ts";
import {
  expectFewRecipients,
  rentForTokenAccounts,
  tooManyRecipients,
  feeOfPayment,
  paymentBid,
  type PaymentBid,
} from "./payment-cost.ts";
import { compileMessage } from "./routing/build-transaction.ts";
import { planInstructions, type StepOfTransaction } from "./routing/plan-instructions.ts";

/**
 * A legacy transaction, which every wallet can show, or one of version 1: one transfer per recipient, for tokens preceded by
 * the idempotent creation of the recipient's ATA. The creation is always there: it costs nothing when the account exists, and
 * makes a payment to a hijacked ATA (its owner changed) fail instead of paying the thief. A compute limit and a bid for a
 * place in a block stand before them, or in the settings of version 1.
 *
 * Throws `RangeError` for an amount outside 1 … 2^64 − 1 and for more recipients than a transaction takes.
 */
export async function buildPayment(
  nodes: NodeContext,
  payment: WantedPayment,
  reference: Uint8Array,
): Promise<UnsignedPayment> {
  const { mint, transfers, transactionVersion } = payment;
  if (transactionVersion === 1 && transfers.length > mostRecipients(mint)) {
    throw tooManyRecipients(transfers.length);
  }
  expectFewRecipients(transfers);
  const steps = planInstructions(paymentMoves(payment, reference));
  const bid = await paymentBid(nodes, steps);
  const { blockhash, lastValidBlockHeight } = await newestBlockhash(nodes);
  const bytes = written(payment, steps, { blockhash, bid });
  if (bytes === null) throw tooManyRecipients(transfers.length);
  const recipients = transfers.map(({ recipient }) => recipient);
  const [networkFee, rent] = await Promise.all([
    feeOfPayment(nodes, bid.priorityFee),
    rentForTokenAccounts(nodes, mint, recipients),
  ]);
  return { bytes, lastValidBlockHeight, networkFee, rent };
}

/** The unsigned transaction; null where it does not fit. */
function written(
  { sender, transactionVersion }: WantedPayment,
  steps: readonly StepOfTransaction[],
  { blockhash, bid }: { readonly blockhash: string; readonly bid: PaymentBid },
): Uint8Array | null {
  const write = transactionVersion === 1 ? serializeVersion1 : serializeLegacy;
  const instructions = steps.map(({ instruction }) => instruction);
  return write({ feePayer: new PublicKey(sender), blockhash, instructions }, bid);
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

interface MessageParts {
  readonly feePayer: PublicKey;
  readonly blockhash: string;
  readonly instructions: readonly TransactionInstruction[];
}

/** Null where it does not fit. */
function serializeLegacy(
  { feePayer, blockhash, instructions }: MessageParts,
  { units, microLamports }: PaymentBid,
): Uint8Array | null {
  const message = new TransactionMessage({
    payerKey: feePayer,
    recentBlockhash: blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
      ...instructions,
    ],
  });
  try {
    const bytes = new VersionedTransaction(message.compileToLegacyMessage()).serialize();
    return bytes.length <= PACKET_DATA_SIZE ? bytes : null;
  } catch (error) {
    // web3.js writes into a buffer of fixed size and lets the overrun surface.
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}

/**
 * Null for more than the chain takes. It may load as much as a transaction that says nothing about loading.
 */
function serializeVersion1(parts: MessageParts, { units, priorityFee }: PaymentBid): Uint8Array | null {
  const { header, staticAccountKeys, recentBlockhash, compiledInstructions } = compileMessage(parts);
  const message = new MessageV1({
    header,
    staticAccountKeys,
    recentBlockhash,
    compiledInstructions,
    transactionConfig: {
      priorityFee: Number(priorityFee),
      computeUnitLimit: units,
      loadedAccountsDataSizeLimit: MAX_LOADED_BYTES,
      heapSize: null,
    },
  });
  return keepsLimits(message) ? joinTransaction(serializeMessage(message), [null]) : null;
}
