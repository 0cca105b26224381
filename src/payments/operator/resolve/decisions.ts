/** Lets one operator at a time decide about a matter: each decision expects the version of the one before. */
import type { DecisionRecord } from "../../tables/operator.ts";
import type { PaymentWrite } from "../../payment-storage.ts";
import { OperatorRefused } from "../operator-refused.ts";

/**
 * A write that is refused when another decision about the matter was committed since `before` was read. `proposal` is what
 * waits for a second person from then on, null for nothing.
 */
export function decisionWrite(
  id: string,
  before: DecisionRecord | null,
  { proposal, decidedAt }: Pick<DecisionRecord, "proposal" | "decidedAt">,
): PaymentWrite {
  return before === null
    ? { table: "decisions", insert: { id, version: 1, proposal, decidedAt } }
    : { table: "decisions", id, set: { proposal, decidedAt }, expectedVersion: before.version };
}

/** The refusal of a decision whose commit lost against another one about the same matter. */
export function decidedMeanwhile(id: string): OperatorRefused {
  return new OperatorRefused(`${id}: somebody else has just decided about it`);
}
