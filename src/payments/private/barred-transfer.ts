/** The bars to signing any transfer: the order's state, a hold, another transfer, screening. */
import { barTo } from "./protocol/rests.ts";
import { screeningGate, type GateDeps } from "./screening-gate.ts";
import { aliveAmong, wantedOutcome, type TransferInHand } from "./transfer-in-hand.ts";
import { HELD_PAUSE_MS, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

/** An order that has ended without a decision tells its transfer as soon as more has come: this is for a word that was missed. */
const ENDED_PAUSE_MS = 24 * 3_600_000;

/** Null if it may be signed (K6, K7, K12, K14). */
export async function barred(deps: GateDeps, inHand: TransferInHand): Promise<TransferOutcome | null> {
  const { row, attempts, height, look } = inHand;
  const { facts, judged } = look;
  const { kind, n: k } = row;
  const isNobody = kind === "chunk" && wantedOutcome(inHand).kind === "nobody";
  const bar = barTo({ kind, k, isNobody }, facts, judged);
  if (bar === "hold") return putOff("held", HELD_PAUSE_MS);
  const isEnded = bar === "not_worth" && look.view.order.overState === "idle";
  if (bar !== null) return putOff(bar, isEnded ? ENDED_PAUSE_MS : null);
  if (kind !== "chunk" && aliveAmong(attempts, height).length > 0) return putOff("another_out", null);
  const isScreened = kind === "rest" || (kind === "chunk" && k === 0 && !isNobody);
  return isScreened ? await screeningGate(deps, inHand) : null;
}
