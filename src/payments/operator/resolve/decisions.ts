/** One operator at a time decides about a matter; a return of foreign tokens to a new receiver waits for a second person. */
import type { DecisionRecord } from "../../tables/operator.ts";
import type { PaymentWrite } from "../../payment-storage.ts";
import { OperatorRefused } from "../act.ts";
import { z } from "zod";
import type { ProposedReturn } from "../../private/order-return.ts";
import type { ActContext } from "../../intake/rules.ts";
import { isSamePerson } from "../../shown-words.ts";
import type { Approval } from "./command.ts";

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

const RETURN = "return:";

const proposal = z.object({
  transactionId: z.string(),
  mint: z.string(),
  to: z.string(),
  units: z.string(),
  actor: z.string(),
});

/** Tokens whose return another person has to confirm, and their amount. */
type WaitingReturn = z.output<typeof proposal>;

/** The id of an approval: for each address and mint only the newest return waits. */
export function returnId({ address, mint }: Pick<ProposedReturn, "address" | "mint">): string {
  return `${RETURN}${address}:${mint}`;
}

/** Whether `returnId` made the id. */
export function isReturnId(id: unknown): boolean {
  return typeof id === "string" && id.startsWith(RETURN);
}

export function proposedReturn(
  { transactionId, mint, to, units }: ProposedReturn,
  { actor }: ActContext,
): string {
  const waiting: WaitingReturn = { transactionId, mint, to, units: String(units), actor };
  return JSON.stringify(waiting);
}

/**
 * The return that waits under the id. Throws `OperatorRefused` when nothing waits, when a different return waits, and
 * for the requesting person.
 */
export function waitingReturn(
  id: string,
  decision: DecisionRecord | null,
  { address, actor }: Approval & Pick<ActContext, "actor">,
): WaitingReturn {
  const text = decision?.proposal ?? null;
  if (text === null) throw new OperatorRefused(`nothing of ${id} waits for an approval`);
  const waiting = proposal.parse(JSON.parse(text));
  if (isSamePerson(waiting.actor, actor)) {
    throw new OperatorRefused(`${waiting.actor} has asked for it: another actor has to approve`);
  }
  if (address !== waiting.to) {
    throw new OperatorRefused(
      `${id}: ${waiting.actor} has asked to send them to ${waiting.to}: confirm that, or nothing`,
    );
  }
  return waiting;
}
