/** Builds the transaction of a plan, and tells its size and fee beforehand. */
import { PACKET_DATA_SIZE, type MessageV0, type PublicKey } from "@solana/web3.js";
import { addressOf } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import { TOKEN_ACCOUNT_BYTES, type TransactionPlan, type UnsignedTransaction } from "../../ledger/routing.ts";
import { unasked, weigh } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import { newestBlockhash } from "../blockhash-window.ts";
import { feeOf, rentMinimum } from "../payment-cost.ts";
import { ANY_TERMS, compilePlan, signedSize } from "./compile-plan.ts";
import { planInstructions } from "./plan-instructions.ts";
import type { PlannedInstruction } from "./planned-instruction.ts";

/** The bytes of the plan with its signatures. Asks no node. */
export function sizeOf(plan: TransactionPlan): number {
  return signedSize(draftOf(plan));
}

/** See `RoutingLedger.feeOf`. */
export async function feeOfPlan(nodes: NodeContext, plan: TransactionPlan): Promise<Evidence<bigint>> {
  return (await buildTransaction(nodes, plan)).networkFee;
}

/** See `RoutingLedger.buildTransaction`. What is wrong with the plan is said before a node is asked. */
export async function buildTransaction(
  nodes: NodeContext,
  plan: TransactionPlan,
): Promise<UnsignedTransaction> {
  const { feePayer, moves } = plan;
  const draft = draftOf(plan);
  const size = signedSize(draft);
  if (size > PACKET_DATA_SIZE) {
    throw new RangeError(`a plan of ${size} bytes does not fit in one transaction`);
  }
  const markerRent = await rentOfMarkers(nodes, plan);
  const planned = planInstructions(moves, markerRent);
  const price = await unitPrice(nodes, { planned, writable: writableKeys(draft) });
  // The blockhash last: its 150 blocks are running.
  const { blockhash, lastValidBlockHeight, firstSlot } = await newestBlockhash(nodes);
  const message = compilePlan(feePayer, planned, { unitPrice: price, blockhash });
  return {
    message: message.serialize(),
    signers: message.staticAccountKeys
      .slice(0, message.header.numRequiredSignatures)
      .map((key) => addressOf(key.toBytes())),
    blockhash,
    lastValidBlockHeight,
    firstSlot,
    networkFee: await feeOf(nodes, message),
    markerRent,
  };
}

/** The message as to its length and its accounts: neither depends on what a node would be asked for. */
function draftOf({ feePayer, moves }: TransactionPlan): MessageV0 {
  return compilePlan(feePayer, planInstructions(moves, 0n), ANY_TERMS);
}

async function rentOfMarkers(nodes: NodeContext, { moves }: TransactionPlan): Promise<Evidence<bigint>> {
  const isMarking = moves.some(({ does }) => does === "mark" || does === "replace");
  return isMarking ? await rentMinimum(nodes, TOKEN_ACCOUNT_BYTES) : unasked(0n);
}

function writableKeys(message: MessageV0): MessageV0["staticAccountKeys"] {
  return message.staticAccountKeys.filter((_, index) => message.isAccountWritable(index));
}

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
async function unitPrice(nodes: NodeContext, { planned, writable }: PricedPlan): Promise<bigint> {
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
