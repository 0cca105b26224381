/** The markers of an order: markers that a payment may still make, markers on the chain, and markers that endpoints dispute. */
import type { PaymentRecord } from "../../tables/payments.ts";
import { proofOf, readPlan, type StoredPlan } from "./stored-plan.ts";
import { ORDER_WORDS } from "./words.ts";
import { wordsIn } from "./kept-accounts.ts";
import type { Evidence } from "../../../ledger/belief.ts";
import type { Marker, MarkersReading } from "../../../ledger/routing.ts";

/** Words under which no payment has landed yet. */
export interface OpenMarker {
  readonly words: string;
  /** The plan that names the words; null for the words of the order itself. */
  readonly follows: string | null;
  /** The recipients of the words; null for all recipients of the order. */
  readonly indexes: readonly number[] | null;
}

/** Open words, replaced before money goes back, in tree order: first the words of the order, then the words that plans name. */
export function openMarkers(payments: readonly PaymentRecord[]): readonly OpenMarker[] {
  const landed = payments
    .filter(({ status }) => status === "finalized")
    .map(({ plan }) => readPlan(plan))
    .map((plan) => ({ plan, proof: proofOf(plan) }));

  const openBelow = (open: OpenMarker): readonly OpenMarker[] => {
    const found = landed.find(({ proof }) => proof?.words === open.words);
    if (found === undefined) return [open];
    const { plan, proof } = found;
    return leavesOf(plan).flatMap(({ words, indexes }) =>
      openBelow({ words, indexes, follows: proof?.planWords ?? null }),
    );
  };
  return openBelow({ words: ORDER_WORDS, follows: null, indexes: null });
}

function leavesOf({ leaves }: StoredPlan): NonNullable<StoredPlan["leaves"]> {
  return leaves ?? [];
}

/** Markers made by landed payments, without markers closed by landed sweeps. */
export function standingMarkers(payments: readonly Pick<PaymentRecord, "status" | "plan">[]): number {
  const plans = payments.filter(({ status }) => status === "finalized").map(({ plan }) => readPlan(plan));
  const made = new Set(plans.flatMap(wordsIn));
  const moves = plans.flatMap((plan) => plan.moves);
  for (const move of moves) if (move.does === "unmark") made.delete(move.words);
  return made.size;
}

/** Markers about which all answering endpoints agree. */
type Undisputed = Evidence<MarkersReading & { readonly markers: readonly Exclude<Marker, "disputed">[] }>;

/** Throws where one of the markers of this deposit address is disputed: nothing is concluded, and the reading is tried again. */
export function undisputed(address: string, reading: Evidence<MarkersReading>): Undisputed {
  const markers = reading.markers.filter((marker) => marker !== "disputed");
  if (markers.length === reading.markers.length) return { ...reading, markers };
  throw new Error(`the witnesses disagree about a marker of deposit address ${address}`);
}
