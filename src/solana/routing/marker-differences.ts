/** Tells whether endpoints contradict each other about a marker, or whether one is only behind. */
import type { MarkersReading } from "../../ledger/routing.ts";
import { noteDifference } from "../agree.ts";
import type { NodeContext } from "../ask.ts";

/** Markers as one endpoint reports them. */
export type EndpointMarkersReading = Omit<MarkersReading, "unmadeAt">;

/** Notes a dispute where they do, until they tell the markers of this subject alike. */
export function noteMarkers(
  nodes: NodeContext,
  subject: string,
  told: readonly EndpointMarkersReading[],
): void {
  const isDisputed = told.length > 1 && told.some((one) => told.some((other) => contradicts(one, other)));
  const names = told.map(({ endpoint }) => endpoint);
  if (isDisputed) noteDifference(nodes, subject, names);
  else nodes.disputes.end(subject);
}

/** A marker that exists in one block also exists in later blocks, and is always replaced by the same plan. */
function contradicts(earlier: EndpointMarkersReading, later: EndpointMarkersReading): boolean {
  return earlier.markers.some((before, index) => {
    const after = later.markers[index] ?? "disputed";
    if (before === "disputed") return true;
    if (before === "unmade") return false;
    if (typeof after === "string") return after === "unmade" && earlier.slot <= later.slot;
    return before.delegate !== after.delegate && earlier.slot <= later.slot;
  });
}
