/** What keeps a transfer from being signed, whatever it would send: the order's state, a hold, another transfer, screening. */
import { barTo } from "./protocol/rests.ts";
import { screeningGate, type GateDeps } from "./screening-gate.ts";
import { aliveAmong, kindOf, wantedOutcome, type TransferInHand } from "./transfer-in-hand.ts";
import { HELD_PAUSE_MS, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

/** Null if it may be signed (K6, K7, K12, K14). */
export async function barred(deps: GateDeps, inHand: TransferInHand): Promise<TransferOutcome | null> {
  const { row, attempts, height, look } = inHand;
  const { facts, judged } = look;
  const kind = kindOf(row);
  const isNobody = row.kind === "nobody" || (kind === "chunk" && wantedOutcome(inHand).kind === "nobody");
  const k = row.kind === "nobody" ? Math.min(...row.subjects.map(Number)) : row.n;
  const bar = barTo({ kind, k, isNobody }, facts, judged);
  if (bar !== null) return bar === "hold" ? putOff("held", HELD_PAUSE_MS) : putOff(bar, null);
  if (kind !== "chunk" && aliveAmong(attempts, height).length > 0) return putOff("another_out", null);
  const isScreened = kind === "rest" || (kind === "chunk" && k === 0 && !isNobody);
  return isScreened ? await screeningGate(deps, inHand) : null;
}
