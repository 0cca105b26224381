/** Regularly compares the slots of all endpoints, to notice lagging and recovered endpoints, and the chain's time. */
import { elapsed } from "../runtime.ts";
import type { NodeContext } from "./ask.ts";
import { chainTime } from "./chain-time.ts";
import { asEndpointFailure } from "./endpoint-failure.ts";
import { expectChain, isAsked, type Endpoint } from "./endpoint.ts";
import { noteFailure, noteLook, noteTime, restOf } from "./health.ts";
import { readEnd, type BlockTime } from "./routing/clock-sysvar.ts";

// How late lagging is noticed while anything is asked. It costs one cheap call per endpoint; an idle ledger makes none.
const SURVEY_MS = 5_000;
// A single endpoint cannot be compared with another, only with the clock; what a process asks at once is not made more.
const ALONE_MS = 30_000;
const FIRST_ALONE_MS = 1_000;

/** Returns a function to call with every question. It never makes the question wait: what it finds out serves later ones. */
export function surveyOf(nodes: NodeContext): () => void {
  const isAlone = nodes.endpoints.filter(isAsked).length === 1;
  const pauseMs = isAlone ? ALONE_MS : SURVEY_MS;
  let isUnderWay = false;
  let nextAt = isAlone ? elapsed(nodes.clock) + FIRST_ALONE_MS : 0;
  return () => {
    const now = elapsed(nodes.clock);
    if (isUnderWay || now < nextAt || nodes.closed.aborted) return;
    isUnderWay = true;
    nextAt = now + pauseMs;
    void survey(nodes).finally(() => {
      isUnderWay = false;
    });
  };
}

/** Never rejects. The verdict waits for the slowest: an endpoint compared with only some of the others may seem ahead. */
async function survey(nodes: NodeContext): Promise<void> {
  const ends = new Map<Endpoint, BlockTime>();
  const look = async (endpoint: Endpoint): Promise<void> => {
    if (restOf(endpoint, nodes.clock.now(), "reads") > 0) return;
    try {
      await expectChain(endpoint, nodes.chain.genesisHash);
      // At confirmed, the commitment of most reads.
      ends.set(endpoint, await readEnd(endpoint, "confirmed"));
    } catch (error) {
      const failed = { failure: asEndpointFailure(error), of: "reads" } as const;
      if (!nodes.closed.aborted) noteFailure(endpoint, failed, nodes);
    }
  };
  await Promise.all(nodes.endpoints.filter(isAsked).map(look));
  const best = Math.max(...[...ends.values()].map(({ slot }) => slot));
  for (const [endpoint, { slot, blockTime }] of ends) {
    noteLook(endpoint, { slot, slotsBehind: best - slot, blockTime: blockTime * 1_000 }, nodes);
  }
  const time = chainTime(nodes);
  for (const endpoint of ends.keys()) noteTime(endpoint, time, nodes);
}
