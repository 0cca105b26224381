/** Sends signed bytes to every endpoint that takes broadcasts, and tells whether there is a place to send from. */
import { firstAnswer, type NodeContext, type EndpointCall } from "./ask.ts";
import { EndpointFailure, allUnavailable } from "./endpoint-failure.ts";
import { withRole } from "./endpoint.ts";
import { restOf } from "./health.ts";

/**
 * Sends the bytes to every endpoint that takes broadcasts at once, one that lags or fails included, and resolves with the first that took them;
 * the others go on. No preflight: the bytes were simulated before, and a node that lags would refuse what the network
 * accepts. No retries by the node: re-sending is ours, so that it stops when the transaction is dead.
 */
export async function broadcast(nodes: NodeContext, bytes: Uint8Array): Promise<void> {
  const sent = withRole(nodes.endpoints, "send").map((endpoint) =>
    firstAnswer({ ...nodes, endpoints: [endpoint] }, send(bytes), "sends"),
  );
  try {
    await Promise.any(sent);
  } catch (error) {
    throw allUnavailable(nodes.closed, error instanceof AggregateError ? error.errors : [error]);
  }
}

function send(bytes: Uint8Array): EndpointCall<void> {
  return async ({ rpc }) => {
    try {
      await rpc.sendTransaction(bytes);
    } catch (error) {
      if (!isAlreadyProcessed(error)) throw error;
    }
  };
}

/** Nodes name the transaction error `AlreadyProcessed` in the error's data; proxies in front of them keep the words. */
function isAlreadyProcessed(error: unknown): boolean {
  if (!(error instanceof EndpointFailure) || error.kind !== "rpc") return false;
  const { data, words = "" } = error.facts;
  const named = typeof data === "object" && data !== null && "err" in data && data.err === "AlreadyProcessed";
  return named || words.includes("already been processed");
}

/** See `Ledger.takeSendPlace`: bytes live for a minute, and a queue is no place. Asks no node. */
export function takeSendPlace(nodes: NodeContext, kind: "first" | "again"): boolean {
  const now = nodes.clock.now();
  return withRole(nodes.endpoints, "send").some((endpoint) => {
    if (restOf(endpoint, now, "sends") > 0) return false;
    const { sendPlaces } = endpoint;
    // Half of the places are left to first sends.
    return sendPlaces === null || sendPlaces.take(kind === "first" ? 0 : Math.floor(sendPlaces.burst / 2));
  });
}
