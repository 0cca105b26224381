/** Acts on whether an order signs: a hold, its release, and another try. */
import { holdOrder, isHeld } from "../screen-order.ts";
import { rateToTake } from "../protocol/cost.ts";
import { SCREENING } from "../../frame/recipients/recipients.ts";
import { refusal, type Acting, type CommandOf, type OrderAct } from "./acting.ts";

/** The reason of a hold that a person has asked for. */
const BY_A_PERSON = "hold";

/** Nobody is paid and nothing goes back until a person releases it. */
export function hold(acting: Acting<CommandOf<"hold">>): OrderAct {
  const { look, parts } = acting;
  if (look.view.holds.some(({ reason, endedAt }) => reason === BY_A_PERSON && endedAt === null)) {
    throw refusal(acting, "is held already");
  }
  const since = parts.clock.now();
  const writes = holdOrder(parts, { order: look.terms.id, reason: BY_A_PERSON, since });
  return { act: "hold", what: {}, event: null, writes, confirmation: null };
}

/**
 * Ends every hold. If one hold is a screening, all payers up to this reading are released; behind another hold nobody has
 * been asked about who paid meanwhile, and is asked now.
 */
export function release(acting: Acting<CommandOf<"release">>): OrderAct {
  const { look, parts } = acting;
  const { view } = look;
  if (!isHeld(view)) throw refusal(acting, "is not held");
  const open = view.holds.filter(({ endedAt }) => endedAt === null);
  const came = Object.fromEntries(view.levels.map(({ mint, received }) => [mint, String(received)]));
  const covers = open.some(({ reason }) => reason === SCREENING) ? came : null;
  const set = { endedAt: parts.clock.now(), covers };
  return {
    act: "release",
    what: { reasons: open.map(({ reason }) => reason), ...(covers === null ? {} : { covers }) },
    event: null,
    writes: open.map(({ id }) => ({ table: "holds", id, set })),
    wakes: view.transfers.filter(({ state }) => state === "planned").map(({ id }) => id),
    confirmation: null,
  };
}

/** Tries again what was put off or does not land; its markers are paid at the rate that is read now, however high or long. */
export function retry(acting: Acting<CommandOf<"retry">>): OrderAct {
  const { look } = acting;
  const waiting = look.view.transfers.filter(
    ({ state, reason, stuckSince }) =>
      (state === "planned" || state === "out") && (reason !== null || stuckSince !== null),
  );
  if (waiting.length === 0) throw refusal(acting, "has nothing that waits");
  const { id, rentTaken } = look.terms;
  const set = { notBefore: null, reason: null, stuckSince: null };
  const lengths = waiting.map(({ kind, n }) => (kind === "chunk" ? (look.view.chunks[n]?.wanted ?? 0) : 0));
  const rentPerByte = rateToTake(look.terms, look.reading.rentPerByte, lengths);
  const isDearer = rentPerByte > rentTaken;
  return {
    act: "retry",
    what: {
      transfers: waiting.map((each) => each.id),
      ...(isDearer ? { rentPerByte: String(rentPerByte) } : {}),
    },
    event: null,
    writes: [
      ...waiting.map((each) => ({ table: "transfers" as const, id: each.id, set })),
      ...(isDearer ? [{ table: "orders" as const, id, set: { rentTaken: rentPerByte } }] : []),
    ],
    wakes: waiting.map((each) => each.id),
    confirmation: null,
  };
}
