/** Regularly compares the slots of all endpoints, to notice lagging and recovered endpoints, and the chain's time. */
import { elapsed } from "../core/runtime.ts";
import type { NodeContext } from "./ask.ts";
import { asEndpointFailure } from "./endpoint-failure.ts";
import { expectChain, isAsked, type Endpoint, withRole } from "./endpoint.ts";
import { noteFailure, noteLook, noteTime, restOf, type EndpointTime } from "./health.ts";
import { readEnd, type BlockTime } from "./accounts.ts";
import type { Evidence } from "../ledger/belief.ts";
import { unasked } from "./agree.ts";

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

// By the time that has passed since, which clocks that nobody sets measure to seconds a day, and not while a machine sleeps.
const KNOWN_FOR_MS = 3_600_000;
// Blocks of endpoints that are asked at one moment may be some seconds apart.
const APART_MS = 30_000;

/**
 * See `Ledger.time`. A time counts when most of all endpoints report it, and at least as many as must agree. Most of
 * all: a single endpoint whose slot runs far ahead makes the healthy ones look behind, and could be the only voice left.
 */
export function chainTime({ endpoints, witnesses, clock }: NodeContext): Evidence<number> | null {
  const now = elapsed(clock);
  const isFresh = (told: EndpointTime | null): told is EndpointTime =>
    told !== null && now - told.at <= KNOWN_FOR_MS;
  const all = withRole(endpoints, "witness");
  const told = all
    .map(({ health }) => health.blockTime)
    .filter(isFresh)
    .map(({ time, at }) => time + now - at)
    .toSorted((one, other) => one - other);
  const middle = told[(told.length - 1) >> 1];
  if (middle === undefined) return null;
  const alike = told.filter((each) => Math.abs(each - middle) <= APART_MS).length;
  return alike >= witnesses && 2 * alike > all.length ? unasked(middle) : null;
}
