/** The present time of the chain, by recent block times of healthy endpoints. Asks no endpoint. */
import { elapsed } from "../runtime.ts";
import type { Evidence } from "../ledger/belief.ts";
import { unasked } from "./agree.ts";
import type { NodeContext } from "./ask.ts";
import { withRole } from "./endpoint.ts";
import type { EndpointTime } from "./health.ts";

// By the time that has passed since, which clocks that nobody sets measure to seconds a day, and not while a machine sleeps.
const KNOWN_FOR_MS = 3_600_000;
// Blocks of endpoints that are asked at one moment may be some seconds apart.
const APART_MS = 30_000;

/**
 * See `Ledger.time`. A time counts when most of all endpoints report it, and at least as many as must agree. Most of
 * all, because a single endpoint whose slot runs far ahead makes the healthy endpoints look behind, and could then be
 * the only voice left.
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
