/** What one person has asked to send elsewhere of a mint that is none of the service's own, kept until another confirms it. */
import { z } from "zod";
import type { DecisionRecord } from "../../tables/operator.ts";
import type { ProposedReturn } from "../../private/order-return.ts";
import type { ActContext } from "../../act-context.ts";
import { OperatorRefused } from "../operator-refused.ts";
import { isSamePerson } from "../who-acts.ts";
import type { Approval } from "./command.ts";

const RETURN = "return:";

const proposal = z.object({
  transactionId: z.string(),
  mint: z.string(),
  to: z.string(),
  units: z.string(),
  actor: z.string(),
});

/** Which tokens another person has to confirm, and how many. */
type WaitingReturn = z.output<typeof proposal>;

/** By what it is approved: of one address and mint one return waits at a time, the newest. */
export function returnId({ address, mint }: Pick<ProposedReturn, "address" | "mint">): string {
  return `${RETURN}${address}:${mint}`;
}

/** Whether an id is one of `returnId`. */
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

/** What waits under the id. Throws `OperatorRefused` where nothing does, where something else does, and for the same person. */
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
