/** Builds the transaction of a plan, and tells its size and fee beforehand. */
import { PACKET_DATA_SIZE, type MessageV0 } from "@solana/web3.js";
import { addressOf } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import {
  type Bid,
  TOKEN_ACCOUNT_BYTES,
  type TransactionPlan,
  type UnsignedTransaction,
} from "../../ledger/routing.ts";
import { unasked } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import { newestBlockhash } from "../blockhash-window.ts";
import { priorityFeeOf } from "../compute-budget.ts";
import { feeWithBid, rentMinimum } from "../payment-cost.ts";
import { fitsTrace, tipInstruction, tipOf, transferOf } from "../tips.ts";
import { ANY_TERMS, BUDGET_INSTRUCTIONS, compilePlan, computeLimit, signedSize } from "./compile-plan.ts";
import { planInstructions, type StepOfTransaction } from "./plan-instructions.ts";
import { unitPrice } from "./unit-price.ts";

/** The bytes of the plan with its signatures. Asks no node. */
export function sizeOf(plan: TransactionPlan): number {
  return signedSize(draftOf(plan));
}

/** See `RoutingLedger.feeOf`. */
export async function feeOfPlan(
  nodes: NodeContext,
  plan: TransactionPlan,
  from: "estimate" | "floor",
): Promise<Evidence<bigint>> {
  return (await buildTransaction(nodes, plan, { from })).networkFee;
}

/** See `RoutingLedger.buildTransaction`. What is wrong with the plan is said before a node is asked. */
export async function buildTransaction(
  nodes: NodeContext,
  plan: TransactionPlan,
  bid: Bid = { from: "estimate" },
): Promise<UnsignedTransaction> {
  const { feePayer } = plan;
  const draft = draftOf(plan);
  const size = signedSize(draft);
  if (size > PACKET_DATA_SIZE) {
    throw new RangeError(`a plan of ${size} bytes does not fit in one transaction`);
  }
  const markerRent = await rentOfMarkers(nodes, plan);
  const { planned, tip } = tipped(nodes, plan, { draft, markerRent, most: bid.tip ?? 0n });
  const units = computeLimit(planned);
  const price = await unitPrice(nodes, units, bid);
  const priorityFee = priorityFeeOf(units, price);
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
    networkFee: await feeWithBid(nodes, draft, priorityFee + tip),
    priorityFee,
    ...(tip === 0n ? {} : { tip }),
    markerRent,
  };
}

/** The instructions of a plan: where they leave room, the tip of a relay in service stands behind them. */
function tipped(
  { endpoints }: NodeContext,
  { feePayer, moves }: TransactionPlan,
  {
    draft,
    markerRent,
    most,
  }: { readonly draft: MessageV0; readonly markerRent: bigint; readonly most: bigint },
): { readonly planned: readonly StepOfTransaction[]; readonly tip: bigint } {
  const planned = planInstructions(moves, markerRent);
  const wanted = tipOf(endpoints);
  if (wanted === null || wanted.lamports > most) return { planned, tip: 0n };
  const all = [...planned, tipInstruction(feePayer, transferOf(wanted, draft.serialize()))];
  const size = signedSize(compilePlan(feePayer, all, ANY_TERMS));
  return size <= PACKET_DATA_SIZE && fitsTrace(all, BUDGET_INSTRUCTIONS)
    ? { planned: all, tip: wanted.lamports }
    : { planned, tip: 0n };
}

/** The message without a bid: its length, its accounts and the fee of its signatures depend on no answer of a node. */
function draftOf({ feePayer, moves }: TransactionPlan): MessageV0 {
  return compilePlan(feePayer, planInstructions(moves, 0n), ANY_TERMS);
}

async function rentOfMarkers(nodes: NodeContext, { moves }: TransactionPlan): Promise<Evidence<bigint>> {
  const isMarking = moves.some(({ does }) => does === "mark" || does === "replace");
  return isMarking ? await rentMinimum(nodes, TOKEN_ACCOUNT_BYTES) : unasked(0n);
}
