/** Tells whether bytes that are signed now have a place to be sent from: bytes live for a minute, and a queue is no place. */
import type { NodeContext } from "./ask.ts";
import { withRole } from "./endpoint.ts";
import { restOf } from "./health.ts";

/** See `Ledger.takeSendPlace`. Asks no node. */
export function takeSendPlace(nodes: NodeContext, kind: "first" | "again"): boolean {
  const now = nodes.clock.now();
  return withRole(nodes.endpoints, "send").some((endpoint) => {
    // Not every transaction has room for the tip that it wants.
    if (endpoint.tip !== null) return false;
    if (restOf(endpoint, now, "sends") > 0) return false;
    const { sendPlaces } = endpoint;
    // Half of the places are left to first sends.
    return sendPlaces === null || sendPlaces.take(kind === "first" ? 0 : Math.floor(sendPlaces.burst / 2));
  });
}
