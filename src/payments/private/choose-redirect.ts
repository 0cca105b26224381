/** Chooses what goes elsewhere: by an approved act, out of stray accounts, or of a mint that the service does not know. */
import type { PrivateContext } from "./private-storage.ts";
import { knownAddress } from "../../core/address.ts";
import type { ActRecord } from "./tables.ts";
import { waitForRent } from "./choose-chunk.ts";
import { PURSE_FROZEN } from "./choose-rest.ts";
import { choiceOf, type Choice } from "./chosen-transfer.ts";
import { noteMatters } from "./marker-matters.ts";
import { legsOfRedirect, planRedirect } from "./protocol/redirect.ts";
import type { ActRow } from "./protocol/rows.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";
import { putOff } from "./transfer-outcomes.ts";

const WAIT_MS = 10 * 60_000;

/** The act that a redirect carries out. Throws an `Error` for one that is not stored. */
export function actOf({ row, look }: Pick<TransferInHand, "row" | "look">): ActRecord & ActRow {
  const act = look.view.acts.find(({ n }) => n === row.n);
  if (act === undefined) throw new Error(`act ${row.n} of order ${row.order} is not stored`);
  return { ...act, mint: knownAddress(act.mint) };
}

/** At most the sum that was approved, to whom it was approved (K12). */
export async function chooseRedirect(
  deps: Pick<PrivateContext, "storage" | "clock">,
  inHand: TransferInHand,
): Promise<Choice> {
  const { terms, judged, facts } = inHand.look;
  const act = actOf(inHand);
  const dear = waitForRent(inHand.look, 0);
  if (dear !== null) return { instead: dear };
  const plan = planRedirect(judged, act, facts.loan);
  const isFrozen = plan.kind === "redirect" ? plan.cost === 0n : plan.kind === "purse_frozen";
  const matters = await noteMatters(deps, inHand.look, isFrozen ? [PURSE_FROZEN] : []);
  if (plan.kind === "redirect") {
    return { chosen: { ...choiceOf(terms, legsOfRedirect(judged, act, plan)), writes: () => matters } };
  }
  return {
    instead: { ...putOff(plan.kind === "not_worth" ? "pause" : plan.kind, WAIT_MS), writes: matters },
  };
}
