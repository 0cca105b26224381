/** Computes what a payment of a caller costs: its bid for a place in a block, and its price before it is built. */
import { PublicKey, SystemProgram, TransactionMessage, type Message } from "@solana/web3.js";
import { addressOf, type Address } from "../core/address.ts";
import type { Evidence } from "../ledger/belief.ts";
import type { PaymentCost } from "../ledger/ledger.ts";
import type { NodeContext } from "./ask.ts";
import { newestBlockhash } from "./blockhash-window.ts";
import { MAX_COMPUTE_UNITS, priorityFeeOf } from "./compute-budget.ts";
import { expectFewRecipients, feeWithBid, rentForTokenAccounts } from "./payment-cost.ts";
import { computeLimit } from "./routing/build-transaction.ts";
import { planInstructions, type StepOfTransaction } from "./routing/plan-instructions.ts";
import { unitPrice } from "./routing/unit-price.ts";

/** Wallets add assertions (Lighthouse) to what they are given, which compute within the limit that is set here. */
const UNITS_OF_ASSERTIONS = 50_000;

/** The compute limit of a payment, and its bid in millionths of a lamport per unit and in lamports. */
export interface PaymentBid {
  readonly units: number;
  readonly microLamports: bigint;
  readonly priorityFee: bigint;
}

/** What the market is estimated to take for a payment with room for the assertions of a wallet. */
export async function paymentBid(
  nodes: NodeContext,
  planned: readonly StepOfTransaction[],
): Promise<PaymentBid> {
  const units = Math.min(computeLimit(planned) + UNITS_OF_ASSERTIONS, MAX_COMPUTE_UNITS);
  const microLamports = await unitPrice(nodes, units, { from: "estimate" });
  return { units, microLamports, priorityFee: priorityFeeOf(units, microLamports) };
}

// Who pays does not change the price of a signature; any key works that is not a program's.
const ANYBODY = addressOf(new Uint8Array(32).fill(1));

/**
 * Prices a payment that is not built yet: one signature, a bid, and an ATA for recipients without one. Throws `RangeError`
 * for more recipients than one transaction can ever hold.
 */
export async function paymentCost(
  nodes: NodeContext,
  mint: Address | null,
  recipients: readonly Address[] | null,
): Promise<PaymentCost> {
  expectFewRecipients(recipients ?? []);
  const accountPayer = mint === null ? null : ANYBODY;
  const toEach = { does: "transfer", from: ANYBODY, mint, decimals: 0, amount: 1n, accountPayer } as const;
  const planned = planInstructions((recipients ?? [ANYBODY]).map((to) => ({ ...toEach, to })));
  const { priorityFee } = await paymentBid(nodes, planned);
  const [networkFee, rent] = await Promise.all([
    feeOfPayment(nodes, priorityFee),
    rentForTokenAccounts(nodes, mint, recipients),
  ]);
  return { networkFee, rent };
}

/** What a payment with this bid costs: its sender alone signs it. */
export async function feeOfPayment(nodes: NodeContext, bid: bigint): Promise<Evidence<bigint>> {
  const { blockhash } = await newestBlockhash(nodes);
  return await feeWithBid(nodes, messageOfOneSignature(blockhash), bid);
}

function messageOfOneSignature(blockhash: string): Message {
  const anybody = new PublicKey(ANYBODY);
  const transfer = SystemProgram.transfer({ fromPubkey: anybody, toPubkey: anybody, lamports: 1 });
  return new TransactionMessage({
    payerKey: anybody,
    recentBlockhash: blockhash,
    instructions: [transfer],
  }).compileToLegacyMessage();
}
