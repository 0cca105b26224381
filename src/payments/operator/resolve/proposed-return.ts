/**
 * A proposed return: one person's request to send tokens of a foreign mint to a new receiver, kept until a second
 * person confirms.
 */
import { z } from "zod";
import type { DecisionRecord } from "../../tables/operator.ts";
import type { ProposedReturn } from "../../private/order-return.ts";
import type { ActContext } from "../../act-context.ts";
import { OperatorRefused } from "../operator-refused.ts";
import { isSamePerson } from "../../shown-words.ts";
import type { Approval } from "./command.ts";

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

/** The text that keeps it. */
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
