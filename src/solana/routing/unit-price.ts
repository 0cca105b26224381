/** Computes the priority fee of our own transactions, per compute unit. */
import type { PublicKey } from "@solana/web3.js";
import { weigh } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import type { PlannedInstruction } from "./planned-instruction.ts";

// A dozen blocks of the 150 that are looked at.
const PRICES_FOR_MS = 5_000;

// One lamport a unit. A payout to six token accounts asks for about 250,000 units, so no node can make the sponsor bid
// more than 0.00025 SOL for it.
const MAX_UNIT_PRICE = 1_000_000n;

// Of the last 150 blocks, a quarter asked for more: enough to be early without following every spike.
const QUARTILE = 0.75;

/** A transaction as far as its price depends on it. */
interface PricedPlan {
  readonly planned: readonly PlannedInstruction[];
  /** The accounts that it writes to, the fee payer first. */
  readonly writable: readonly PublicKey[];
}

/**
 * Millionths of a lamport per compute unit, from what recent blocks asked of those who write to the same accounts, as it
 * was five seconds ago at most and as the cheapest of the endpoints tells. The same payees have the same price: nobody else writes to what is ours in a plan, the
 * deposit address, its markers and its token accounts.
 */
export async function unitPrice(nodes: NodeContext, { planned, writable }: PricedPlan): Promise<bigint> {
  const accounts = writable.map((key) => key.toBase58());
  const [feePayer = ""] = accounts;
  const key = ["price", feePayer, ...payeesIn(planned)].join(" ");
  const cheapest = await nodes.remembered(key, PRICES_FOR_MS, () =>
    weigh(
      nodes,
      ({ rpc }) => rpc.getRecentPrioritizationFees(accounts),
      // One endpoint that tells too much makes no payment dearer.
      (told) => Math.min(...told.map(quartileOf)),
    ),
  );
  const price = BigInt(cheapest);
  return price < MAX_UNIT_PRICE ? price : MAX_UNIT_PRICE;
}

function quartileOf(fees: readonly number[]): number {
  return fees.toSorted((a, b) => a - b)[Math.floor(fees.length * QUARTILE)] ?? 0;
}

/** The accounts that are paid: in a transfer of SOL and of tokens the last one that is written to. */
function payeesIn(planned: readonly PlannedInstruction[]): readonly string[] {
  const payees = planned
    .filter(({ step }) => step === "pay")
    .map(
      ({ instruction }) => instruction.keys.findLast(({ isWritable }) => isWritable)?.pubkey.toBase58() ?? "",
    );
  return payees.toSorted();
}
