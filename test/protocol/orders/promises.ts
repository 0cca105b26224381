/** What a step of an order must never do. */
import type { OrderStatus } from "./edges.ts";
import type { Scenario } from "./scenario.ts";
import type { OrderState } from "./state.ts";

const RANK: Readonly<Record<OrderStatus, number>> = {
  pending: 0,
  processing: 1,
  confirmed: 2,
  completed: 3,
  failed: 3,
  cancelled: 3,
};

/** The promise that this step breaks, or null. */
export function brokenBy(before: OrderState, after: OrderState, scenario: Scenario): string | null {
  return brokenStatus(before, after) ?? brokenWord(after, scenario) ?? brokenAct(before, after);
}

function brokenStatus(before: OrderState, after: OrderState): string | null {
  if (RANK[after.status] < RANK[before.status]) return "a status never goes back";
  const isFinal = RANK[before.status] === RANK.completed;
  return isFinal && after.status !== before.status ? "a final status never changes" : null;
}

function brokenWord(after: OrderState, { copies }: Scenario): string | null {
  const { status, marker0, marker1, hasLied, isDeclined } = after;
  const isPaid = marker0 === "go" && marker1 === "all";
  if (status === "completed" && !isPaid && !hasLied) return "what is told completed is paid";
  if (copies === "any") return null;
  const isRefused = marker0 === "noGo" || marker1 === "nobody";
  if (status === "completed" && !isDeclined && isRefused) {
    return "of what is told completed the service signs for nobody only on a person's word";
  }
  const isOver = status === "cancelled" || (status === "failed" && !after.isPartial);
  const isPaying = marker0 === "go" || marker1 === "all";
  return isOver && isPaying && !hasLied && after.line === "none"
    ? "what is told failed or cancelled is not paid by this copy"
    : null;
}

function brokenAct(before: OrderState, after: OrderState): string | null {
  const isCancelled = before.place === "waiting" && after.place === "closing" && after.ends === "cancelled";
  if (isCancelled && before.money >= 2) return "nothing is cancelled over a deposit";
  const isEnded = before.place === "paying" && after.place === "over.idle";
  if (isEnded && before.marker0 === "go") return "no start ends an order that pays";
  const isGoSigned = before.go === "none" && after.go === "alive";
  const mayGo = !before.isHeld && (before.payers === "clean" || before.isReleased);
  return isGoSigned && !mayGo ? "no go is signed under a hold or for unscreened payers" : null;
}
