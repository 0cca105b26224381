/** Refuses a reading of markers that endpoints tell differently: nothing is concluded from a disputed marker. */
import type { Evidence } from "../../../ledger/belief.ts";
import type { Marker, MarkersReading } from "../../../ledger/routing.ts";

/** Markers about which all answering endpoints agree. */
type Undisputed = Evidence<MarkersReading & { readonly markers: readonly Exclude<Marker, "disputed">[] }>;

/** Throws where one of the markers of this deposit address is disputed: the reading is tried again. */
export function undisputed(address: string, reading: Evidence<MarkersReading>): Undisputed {
  const markers = reading.markers.filter((marker) => marker !== "disputed");
  if (markers.length === reading.markers.length) return { ...reading, markers };
  throw new Error(`the witnesses disagree about a marker of deposit address ${address}`);
}
