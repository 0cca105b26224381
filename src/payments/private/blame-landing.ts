/**
 * The members to blame for bytes of a chunk that have landed with an error (K11): the chain itself says it, whatever a run
 * says now.
 */
import type { PrivateContext } from "./private-storage.ts";
import { isDeepStrictEqual } from "node:util";
import type { Evidence } from "../../ledger/belief.ts";
import type { Landing } from "../../ledger/ledger.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import { choiceOf, planOf } from "./chosen-transfer.ts";
import { legsOfChunk } from "./protocol/chunk.ts";
import { judge } from "./protocol/culprits.ts";
import { wantedOutcome, type TransferInHand } from "./transfer-in-hand.ts";

/** An attempt with its landing. */
export interface Landed {
  readonly attempt: AttemptRecord;
  readonly landing: Evidence<Landing>;
}

/** Places of the chunk that are to be left out. Empty if the bytes had another outcome than the wanted one, and for a swap. */
export async function blamedFor(
  { ledger }: Pick<PrivateContext, "ledger">,
  inHand: TransferInHand,
  { attempt, landing }: Landed,
): Promise<readonly number[]> {
  const { row, look } = inHand;
  const { terms, judged } = look;
  if (row.kind !== "chunk" || terms.type === "swap" || landing.error === null) return [];
  const legs = legsOfChunk(judged, { k: row.n, outcome: wantedOutcome(inHand), swap: null });
  if (!isDeepStrictEqual(choiceOf(terms, legs).booked, attempt.legs)) return [];
  const fault = await ledger.explainOrder(planOf(terms, legs), landing.error);
  const verdict = judge(judged, { kind: "chunk", k: row.n, legs, fault });
  return verdict.kind === "leave_out" ? verdict.places : [];
}
