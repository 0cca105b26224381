/** Chooses what goes back now, by the newest amounts of one endpoint: a wrong one is refused, or harmless (K10, K13). */
import type { PrivateContext } from "./private-storage.ts";
import { SOL_MINT } from "../../core/address.ts";
import type { OrderTold } from "../../ledger/order-reading.ts";
import type { AttemptLeg } from "../frame/tables/attempts.ts";
import { choiceOf, type Choice } from "./chosen-transfer.ts";
import { ASSERTED_AGAIN, isDisturbed } from "./dust.ts";
import { timeOf } from "./judged-rows.ts";
import { noteMatters, type OrderMatter } from "./marker-matters.ts";
import { legsOfRest, type Rest, type RestPlan } from "./protocol/rest.ts";
import { restsOf } from "./protocol/rests.ts";
import type { OrderTerms } from "./protocol/terms.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";
import { held, lookAgain, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

export type RestDeps = Pick<PrivateContext, "storage" | "ledger" | "clock" | "random">;

/** One refund of an address lands in so long: dust could make the sponsor pay one fee after another (K14). */
const PAUSE_BETWEEN_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
const WAIT_MS = 60_000;

export const PURSE_FROZEN: OrderMatter = { kind: "purse_frozen" };

/** All funds at the address, or, after dust, all above the loan. */
export async function chooseRest(deps: RestDeps, inHand: TransferInHand): Promise<Choice> {
  const { terms, judged, facts } = inHand.look;
  const pause = waitForPause(deps, inHand);
  if (pause !== null) return { instead: pause };
  const told = await newestAmounts(deps, inHand);
  const plans = restsOf(judged, facts, { told, way: isDisturbed(inHand) ? "bare" : "asserted" });
  const rest = plans.find((plan) => plan.kind === "rest");
  const isFrozen = rest?.isCostLeftOut ?? plans.some(({ kind }) => kind === "purse_frozen");
  const matters = await noteMatters(deps, inHand.look, isFrozen ? [PURSE_FROZEN] : []);
  if (rest === undefined) {
    const instead = withoutRest(deps, inHand, plans);
    return { instead: { ...instead, writes: [...(instead.writes ?? []), ...matters] } };
  }
  const booked = bookedOf(terms, rest, facts.loan);
  return { chosen: { ...choiceOf(terms, legsOfRest(terms, rest)), booked, writes: () => matters } };
}

/** Why another endpoint's amounts are tried: those of the newest one were wrong. */
const WRONG: ReadonlySet<string> = new Set(["read_again", "levels"]);

/**
 * As one endpoint shows them at confirmed: dust of the last seconds is among them. First the newest reading; after a refusal
 * any reading, so that no single reading blocks the refund.
 */
async function newestAmounts(
  { ledger, random }: Pick<PrivateContext, "ledger" | "random">,
  { row, look }: TransferInHand,
): Promise<OrderTold> {
  const { told } = await ledger.readOrder(look.judged.look.query, "confirmed");
  const [chance = 0] = WRONG.has(row.reason ?? "") ? random.bytes(1) : [];
  const shown = told[chance % told.length];
  if (shown === undefined) throw new Error(`no endpoint shows what lies at order ${look.terms.id}`);
  return shown;
}

function waitForPause({ clock }: RestDeps, { look }: TransferInHand): TransferOutcome | null {
  const refunds = look.view.transfers.filter(({ kind }) => kind === "rest" || kind === "redirect");
  const until = Math.max(0, ...refunds.map(({ landedAt }) => landedAt ?? 0)) + PAUSE_BETWEEN_MS;
  // They landed by the chain's time, which a clock may be far behind.
  const left = until - Math.max(clock.now(), timeOf(look.reading));
  return left > 0 ? putOff("pause", left) : null;
}

/** One endpoint's word neither holds an order nor ends a rest: the witnesses have to say so, too. */
function withoutRest(deps: RestDeps, inHand: TransferInHand, plans: readonly RestPlan[]): TransferOutcome {
  const { worth } = inHand.look.facts;
  const kinds = new Set(plans.map(({ kind }) => kind));
  if (kinds.has("held") && worth === "held") return held(deps, inHand, "address_frozen");
  for (const reason of ["waiting_for_price", "purse_frozen"] as const) {
    if (kinds.has(reason)) return putOff(reason, WAIT_MS);
  }
  if (isDisturbed(inHand)) return putOff(ASSERTED_AGAIN, HOUR_MS);
  const isOver = worth === "nothing" || worth === "not_worth";
  return isOver ? { event: { type: "NOTHING_LEFT" } } : lookAgain(deps, inHand, "read_again");
}

/** The order's own money by asset, and what comes back of the sponsor's. */
function bookedOf(
  { sender, sponsor }: OrderTerms,
  { token, lamports, back }: Rest,
  loan: bigint,
): readonly AttemptLeg[] {
  const lent = back > 0n ? loan : 0n;
  const legs: AttemptLeg[] = [
    { mint: SOL_MINT, to: sender, amount: lamports.toSender, as: "sender" },
    { mint: SOL_MINT, to: sponsor, amount: lamports.toSponsor - back, as: "cost" },
    { mint: SOL_MINT, to: sponsor, amount: lent, as: "loan" },
    { mint: SOL_MINT, to: sponsor, amount: back - lent, as: "rent" },
  ];
  if (token !== null) {
    const { mint, toSender, toSponsor } = token;
    legs.push({ mint, to: sender, amount: toSender, as: "sender" });
    legs.push({ mint, to: sponsor, amount: toSponsor, as: "cost" });
  }
  return legs.filter(({ amount }) => amount > 0n);
}
