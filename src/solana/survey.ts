/** Compares from time to time how far each endpoint is: only so a lagging one is seen, and one that has recovered. */
import { elapsed } from "../runtime.ts";
import { asEndpointFailure } from "./endpoint-failure.ts";
import { expectChain, type Endpoint } from "./endpoint.ts";
import { noteFailure, noteLook, restOf } from "./health.ts";
import type { Nodes } from "./ask.ts";

// How late lagging is noticed while anything is asked. It costs one cheap call per endpoint; an idle ledger makes none.
const SURVEY_MS = 5_000;

/**
 * Returns a function to call with every question. It never makes the question wait: what it finds out serves later ones.
 * A single endpoint cannot be compared with another, so it is never surveyed.
 */
export function surveyOf(nodes: Nodes): () => void {
  let isUnderWay = false;
  let nextAt = 0;
  return () => {
    const now = elapsed(nodes.clock);
    if (nodes.endpoints.length === 1 || isUnderWay || now < nextAt || nodes.closed.aborted) return;
    isUnderWay = true;
    nextAt = now + SURVEY_MS;
    void survey(nodes).finally(() => {
      isUnderWay = false;
    });
  };
}

/** Never rejects. The verdict waits for the slowest: an endpoint compared with only some of the others may seem ahead. */
async function survey(nodes: Nodes): Promise<void> {
  const slots = new Map<Endpoint, number>();
  const look = async (endpoint: Endpoint): Promise<void> => {
    if (restOf(endpoint, nodes.clock.now()) > 0) return;
    try {
      await expectChain(endpoint, nodes.chain.genesisHash);
      // At confirmed, the commitment of most reads.
      slots.set(endpoint, await endpoint.rpc.getSlot("confirmed"));
    } catch (error) {
      if (!nodes.closed.aborted) noteFailure(endpoint, asEndpointFailure(error), nodes);
    }
  };
  await Promise.all(nodes.endpoints.map(look));
  const best = Math.max(...slots.values());
  for (const [endpoint, slot] of slots) noteLook(endpoint, { slot, slotsBehind: best - slot }, nodes);
}
