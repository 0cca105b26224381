/** One operator at a time decides about a matter or an order; some decisions wait for a second confirmation. */
import type { DecisionRecord } from "../tables/operator.ts";
import type { FrameWrite } from "../frame-storage.ts";
import { OperatorRefused } from "./act.ts";

/**
 * A write that is refused when another decision about the matter was committed since `before` was read. `proposal` is what
 * waits for a second confirmation from then on, null for nothing.
 */
export function decisionWrite(
  id: string,
  before: DecisionRecord | null,
  { proposal, decidedAt }: Pick<DecisionRecord, "proposal" | "decidedAt">,
): FrameWrite {
  return before === null
    ? { table: "decisions", insert: { id, version: 1, proposal, decidedAt } }
    : { table: "decisions", id, set: { proposal, decidedAt }, expectedVersion: before.version };
}

/** The refusal of a decision whose commit lost against another one about the same. */
export function decidedMeanwhile(id: string): OperatorRefused {
  return new OperatorRefused(
    `${id}: somebody else has just decided about it, or it has moved on: look again`,
  );
}
