/** Chooses what is signed for a chunk now: the outcome that is wanted, at the price and the rent of this moment. */
import { priceOrderSwap, type SwapObstacle, type SwapPricingDeps } from "./price-order-swap.ts";
import { choiceOf, type Choice } from "./chosen-transfer.ts";
import type { OrderLook } from "./look.ts";
import { legsOfChunk } from "./protocol/chunk.ts";
import { isWithinReserve } from "./protocol/cost.ts";
import { unpayable } from "./protocol/culprits.ts";
import { shapeOf } from "./protocol/cut.ts";
import { isPaid, lengthOf } from "./protocol/outcome.ts";
import type { Outcome } from "./protocol/terms.ts";
import { wantedOutcome, type TransferInHand } from "./transfer-in-hand.ts";
import { isLongSince, leaveOut, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

/** A swap is refused if for so long no price was good enough: late, it is worth less to its sender than the money. */
const SWAP_PATIENCE_MS = 10 * 60_000;
const SWAP_PAUSE_MS = 30_000;
/** The pause between two looks at an order that waits for a person: rent may fall by itself. */
const RENT_PAUSE_MS = 60_000;

export async function chooseChunk(deps: SwapPricingDeps, inHand: TransferInHand): Promise<Choice> {
  const { row, look } = inHand;
  const { terms, judged, view } = look;
  const k = row.n;
  const outcome = wantedOutcome(inHand);
  const isUnrefused = view.order.state === "waiting" || view.order.state === "deciding";
  // The order's own chart refuses it, and says why.
  if (k === 0 && outcome.kind === "nobody" && isUnrefused) return { instead: putOff("PAYOUT_FAILED", null) };
  const dear = waitForRent(look, lengthOf(shapeOf(terms, k), outcome));
  if (dear !== null) return { instead: dear };
  const missing = unpayable(judged, k).filter((place) => isPaid(outcome, place));
  if (missing.length > 0) return { instead: leaveOut(inHand, missing) };
  return terms.type === "swap" && outcome.kind !== "nobody"
    ? chooseSwap(deps, inHand, outcome)
    : { chosen: choiceOf(terms, legsOfChunk(judged, { k, outcome, swap: null })) };
}

/** Puts off a marker that costs more than is reserved for one, until rent falls or a person retries (K2); else null. */
export function waitForRent({ terms, reading }: OrderLook, length: number): TransferOutcome | null {
  const isCovered = isWithinReserve(terms, reading.rentPerByte, length);
  return isCovered ? null : putOff("waiting_for_funds", RENT_PAUSE_MS);
}

async function chooseSwap(deps: SwapPricingDeps, inHand: TransferInHand, outcome: Outcome): Promise<Choice> {
  const { row, attempts, look } = inHand;
  const { terms, view, judged, transaction } = look;
  const priced = await priceOrderSwap(deps, {
    terms,
    accountId: view.order.accountId,
    quoteId: transaction.quoteId,
    attempt: `${row.id}:${attempts.length}`,
    reserved: row.reserved,
  });
  if (typeof priced === "string") return { instead: waitForSwap(deps, inHand, priced) };
  const { swap, desk, reserved, writes } = priced;
  const legs = legsOfChunk(judged, { k: row.n, outcome, swap });
  return { chosen: { ...choiceOf(terms, legs), cosigners: [desk], reserved, writes } };
}

/** After ten minutes the reason is the caller's, by which the order refuses the swap unless it is held. */
export function waitForSwap(
  { clock }: Pick<SwapPricingDeps, "clock">,
  inHand: TransferInHand,
  obstacle: SwapObstacle,
): TransferOutcome {
  const { order, holds } = inHand.look.view;
  const now = clock.now();
  // The price was good enough when bytes were signed; before the first ones, and under a hold, none was asked for.
  const since = Math.max(
    order.waitEndedAt ?? now,
    ...holds.map(({ endedAt }) => endedAt ?? now),
    ...inHand.attempts.map(({ createdAt }) => createdAt),
  );
  const waiting = obstacle === "SLIPPAGE_EXCEEDED" ? "price" : "desk";
  const reason = isLongSince(since, now, SWAP_PATIENCE_MS) ? obstacle : waiting;
  return putOff(reason, SWAP_PAUSE_MS);
}
