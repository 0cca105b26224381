/** The next rest of an order that is decided: when it may go, and what is reserved for it. */
import type { PrivateWrite } from "./private-storage.ts";
import { reserveAgain } from "../frame/purses/sponsor-limit.ts";
import type { TransferRecord } from "./tables.ts";
import type { OrderLook } from "./look.ts";
import type { WantedTransfer } from "./plan-transfer.ts";
import { outlayOf } from "./protocol/cost.ts";
import { legsOfRest } from "./protocol/rest.ts";
import { restsOf } from "./protocol/rests.ts";

/**
 * One rest, redirect or collect at a time is open at an address; foreign tokens are not the order's money. A collect that is put
 * off may wait long, such as for a price: nothing waits for it.
 */
export function nextRest({ view, terms }: OrderLook): WantedTransfer | null {
  const others = view.transfers.filter(({ kind }) => kind !== "chunk" && kind !== "foreign");
  const isNext = ({ kind, state, reason }: TransferRecord): boolean =>
    state === "out" || (state === "planned" && (kind !== "collect" || reason === null));
  if (others.some(isNext)) return null;
  const rests = others.filter(({ kind }) => kind === "rest");
  return { order: terms.id, kind: "rest", n: rests.length, mint: null, to: terms.sender, subjects: [] };
}

/** The sponsor's reserve is from now on no more than the cost of the rest, also while the rest is held. */
export function reserveRest({ judged, facts, reading, terms }: OrderLook): PrivateWrite {
  const { rentPerByte, told } = reading;
  const [newest] = told;
  const rests = newest === undefined ? [] : restsOf(judged, facts, { told: newest, way: "asserted" });
  const rest = rests.find((each) => each.kind === "rest");
  const legs = rest === undefined ? [] : legsOfRest(terms, rest);
  return reserveAgain(terms.id, outlayOf(legs, terms.sponsor, { rentPerByte, fee: judged.fee }));
}
