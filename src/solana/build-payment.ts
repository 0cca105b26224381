/** Builds the unsigned transaction of a payment. */
import {
  ComputeBudgetProgram,
  PACKET_DATA_SIZE,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { addressOf } from "../address.ts";
import type { DeclaredPayment, Transfer, UnsignedPayment } from "../ledger/ledger.ts";
import type { Move } from "../ledger/routing.ts";
import type { NodeContext } from "./ask.ts";
import { newestBlockhash } from "./blockhash-window.ts";
import { expectFewRecipients, feeWithBid, rentForTokenAccounts, tooManyRecipients } from "./payment-cost.ts";
import { paymentBid, type PaymentBid } from "./price-payment.ts";
import type { Tip } from "./endpoint.ts";
import { ANY_TERMS, BUDGET_INSTRUCTIONS } from "./routing/compile-plan.ts";
import type { StepOfTransaction } from "./routing/planned-instruction.ts";
import { hasRoom, tipInstruction, tipOf, transferOf } from "./tips.ts";
import { planInstructions } from "./routing/plan-instructions.ts";

/**
 * A legacy transaction, which every wallet can show: one transfer per recipient, for tokens preceded by the idempotent
 * creation of the recipient's ATA. The creation is always there: it costs nothing when the account exists, and makes a
 * payment to a hijacked ATA (its owner changed) fail instead of paying the thief. Before them stand a compute limit and a
 * bid for a place in a block; behind them, where there is room, the tip of a relay that wants one.
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
  const tip = tipOfPayment(tipOf(nodes.endpoints), payment, reference);
  const planned = stepsOf(payment, { reference, tip });
  const instructions = planned.map(({ instruction }) => instruction);
  const { units, microLamports, priorityFee } = await paymentBid(nodes, planned);
  const { blockhash, lastValidBlockHeight } = await newestBlockhash(nodes);
  const over = { payerKey: new PublicKey(sender), recentBlockhash: blockhash };
  const message = new TransactionMessage({
    ...over,
    instructions: [...budget({ units, microLamports }), ...instructions],
  });
  const bytes = serialize(message, transfers.length);
  const withoutBid = new TransactionMessage({ ...over, instructions }).compileToLegacyMessage();
  const recipients = transfers.map(({ recipient }) => recipient);
  const [networkFee, rent] = await Promise.all([
    feeWithBid(nodes, withoutBid, priorityFee + (tip?.amount ?? 0n)),
    rentForTokenAccounts(nodes, mint, recipients),
  ]);
  return { bytes, lastValidBlockHeight, networkFee, rent };
}

/**
 * The tip of the transaction that is built for a payment under this reference, which depends on nothing else. Null where it has
 * no room for one, and where the relay's account is paid anyway: one transfer would look like the other.
 */
export function tipOfPayment(
  wanted: Tip | null,
  payment: DeclaredPayment,
  reference: Uint8Array,
): Transfer | null {
  if (wanted === null) return null;
  const tip = transferOf(wanted, reference);
  if (payment.transfers.some(({ recipient }) => recipient === tip.recipient)) return null;
  const steps = stepsOf(payment, { reference, tip });
  const instructions = [
    ...budget({ units: 0, microLamports: 0n }),
    ...steps.map(({ instruction }) => instruction),
  ];
  const payerKey = new PublicKey(payment.sender);
  const message = new TransactionMessage({ payerKey, recentBlockhash: ANY_TERMS.blockhash, instructions });
  const bytes = written(message);
  return bytes !== null && hasRoom(bytes.length, steps, BUDGET_INSTRUCTIONS) ? tip : null;
}

/** What comes before the transfers. */
function budget({ units, microLamports }: Pick<PaymentBid, "units" | "microLamports">) {
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
  ];
}

/** The transfers, and the tip behind them. */
function stepsOf(
  payment: DeclaredPayment,
  { reference, tip }: { readonly reference: Uint8Array; readonly tip: Transfer | null },
): readonly StepOfTransaction[] {
  const planned = planInstructions(paymentMoves(payment, reference), 0n);
  return tip === null ? planned : [...planned, tipInstruction(payment.sender, tip)];
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
  const bytes = written(message);
  if (bytes === null) throw tooManyRecipients(recipients);
  return bytes;
}

/** Null for more than fits one transaction. */
function written(message: TransactionMessage): Uint8Array | null {
  try {
    const bytes = new VersionedTransaction(message.compileToLegacyMessage()).serialize();
    return bytes.length <= PACKET_DATA_SIZE ? bytes : null;
  } catch (error) {
    // web3.js writes into a buffer of fixed size and lets the overrun surface.
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}
