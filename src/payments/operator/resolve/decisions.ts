/** What was decided about a matter, as the guard of the next decision: of several operators at once one decides. */
import type { DecisionRecord } from "../../records.ts";
import type { PaymentWrite } from "../../payment-storage.ts";

/**
 * A write that is refused when anybody has decided about the matter since `before` was read. `proposal` is what waits for
 * a second person from then on, null for nothing.
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
