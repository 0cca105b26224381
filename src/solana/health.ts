/** Tracks how an endpoint has answered lately: when it is asked again, and whether before or after the others. */
import { elapsed, type Clock, type Logger } from "../core/runtime.ts";
import { isIllness, isRateLimit, type EndpointFailure } from "./endpoint-failure.ts";

export interface EndpointHealth {
  /** Unix milliseconds before which the endpoint must not be asked at all (Retry-After, 429), by the kind of call. */
  readonly restsUntil: Record<CallKind, number>;
  /** Refusals of reads because of their number, since the last answer to one; null after an answer. */
  limited: LimitedReads | null;
  /** Failures since the last answer, without failures during an avoidance. */
  failuresInRow: number;
  /**
   * Set while the endpoint keeps failing: asked last, and not tried for a recovery before this time of `elapsed`. Null:
   * healthy.
   */
  avoidedUntil: number | null;
  /** Failures already counted: several callers may share a call, and all of them report its failure. */
  readonly known: WeakSet<EndpointFailure>;
  /** The number of slots behind the best endpoint, when both endpoints were last looked at. */
  slotsBehind: number;
  /** The slot that the endpoint told at the last look. */
  slot: number;
  /** The time of the newest block when its slot was first reported; null before. */
  look: EndpointTime | null;
  /** When that slot was last higher than the one before, by `elapsed`. */
  movedAt: number;
  /** The chain's time, as of the last look with steadily made blocks; null before. */
  blockTime: EndpointTime | null;
  /** Whether enough others told another time at the last look. */
  isOff: boolean;
  /** Whether the slot had not moved for ten minutes at the last look. */
  standsStill: boolean;
}

/** Kinds of calls that providers limit apart from each other. */
export type CallKind = "reads" | "sends";

interface LimitedReads {
  /** Unix milliseconds of the first refusal. */
  readonly since: number;
  /** The first and the last refusal, by `elapsed`. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Unix milliseconds, and when they were told, by `elapsed`. */
export interface EndpointTime {
  readonly time: number;
  readonly at: number;
}

/** A look at an endpoint. */
interface Look {
  readonly slot: number;
  readonly slotsBehind: number;
  /** The time of the slot's block, Unix milliseconds. */
  readonly blockTime: number;
}

/** An endpoint as far as its health is concerned. */
interface Patient {
  /** Safe to log. */
  readonly name: string;
  readonly health: EndpointHealth;
}

/** The clock that judges health, and the logger for changes. */
export interface HealthWatch {
  readonly clock: Clock;
  readonly log: Logger;
}

// Against a Retry-After of a day, which would silence an endpoint that is well again in a minute; the longest that an
// endpoint which keeps failing is avoided, too.
const MAX_REST_MS = 60_000;
// A rate limit that does not say how long: limits are counted by the second.
const REST_AFTER_429_MS = 1_000;
// One question tries an endpoint three times: fewer failures in a row are a hiccup, more a state.
const FAILURES_TO_AVOID = 3;
// Doubled by every further failure.
const FIRST_AVOIDANCE_MS = 5_000;
// A third of a blockhash's life, counted in slots because it must not depend on how long a slot takes: what a node
// further behind tells is history, and the blockhashes it hands out are half used up.
export const MAX_SLOTS_BEHIND = 50;

// A node that tells the same slot for so long follows the chain no more. A halt of the whole chain stops all of them.
const STANDS_STILL_AFTER_MS = 10 * 60_000;
// Between two looks the times of blocks go on as time does, up to this; else the chain stood still meanwhile.
const STOOD_STILL_MS = 30_000;

/** The health of an endpoint that was never asked: healthy. */
export function newHealth(): EndpointHealth {
  return {
    restsUntil: { reads: 0, sends: 0 },
    limited: null,
    failuresInRow: 0,
    avoidedUntil: null,
    known: new WeakSet(),
    slotsBehind: 0,
    slot: 0,
    look: null,
    movedAt: 0,
    blockTime: null,
    isOff: false,
    standsStill: false,
  };
}

/** True when the others are asked first: it keeps failing, or lags. */
export function isAvoided({ health }: Patient): boolean {
  return health.avoidedUntil !== null || isLagging(health);
}

/** Milliseconds for which it asked to be left alone. Kept also when no other endpoint is left to ask. */
export function restOf({ health }: Pick<Patient, "health">, now: number, kind: CallKind): number {
  return leftOf(health.restsUntil[kind], now);
}

/** Since when the endpoint has refused each read as one too many, where that has gone on for five minutes; else null. */
export function rateLimitedSince({ health: { limited } }: Pick<Patient, "health">): number | null {
  return limited !== null && limited.lastAt - limited.firstAt >= LIMITED_AFTER_MS ? limited.since : null;
}

const LIMITED_AFTER_MS = 5 * 60_000;

/** No rest is longer than the longest: where more is left the clock was set back, and the rest is over. */
function leftOf(until: number, now: number): number {
  const left = until - now;
  return left > MAX_REST_MS ? 0 : Math.max(left, 0);
}

/** Notes an answer: the endpoint's failures are over. */
export function noteAnswer({ name, health }: Patient, kind: CallKind, { log }: HealthWatch): void {
  if (kind === "reads") health.limited = null;
  if (health.failuresInRow >= FAILURES_TO_AVOID) {
    log.info({ endpoint: name }, "a Solana endpoint answers again");
  }
  health.failuresInRow = 0;
  health.avoidedUntil = null;
}

/** Notes a failure. Failures by the endpoint's rate limit, or by a hard question, do not count. */
export function noteFailure(
  { name, health }: Patient,
  { failure, of }: { readonly failure: EndpointFailure; readonly of: CallKind },
  { clock, log }: HealthWatch,
): void {
  if (health.known.has(failure)) return;
  health.known.add(failure);
  const now = clock.now();
  const { kind, facts } = failure;
  log.debug({ endpoint: name, kind, code: facts.code ?? null }, "a Solana endpoint failed");
  const asked = facts.retryAfterMs ?? (isRateLimit(failure) ? REST_AFTER_429_MS : 0);
  const ms = Math.min(asked, MAX_REST_MS);
  health.restsUntil[of] = now + Math.max(leftOf(health.restsUntil[of], now), ms);
  if (of === "reads" && isRateLimit(failure)) {
    const lastAt = elapsed(clock);
    health.limited = { ...(health.limited ?? { since: now, firstAt: lastAt }), lastAt };
  }
  // Many questions may run at once: failures of questions that began before the endpoint was avoided count only once.
  if (!isIllness(failure) || elapsed(clock) < (health.avoidedUntil ?? 0)) return;
  health.failuresInRow += 1;
  if (health.failuresInRow < FAILURES_TO_AVOID) return;
  const avoidedMs = Math.min(
    FIRST_AVOIDANCE_MS * 2 ** (health.failuresInRow - FAILURES_TO_AVOID),
    MAX_REST_MS,
  );
  health.avoidedUntil = elapsed(clock) + avoidedMs;
  log.warn(
    { endpoint: name, kind, code: facts.code ?? null, avoidedMs },
    "a Solana endpoint keeps failing and is asked after the others",
  );
}

/**
 * Notes a look at an endpoint: its slot, and how many slots it is behind the best endpoint. An endpoint that was avoided long
 * enough is tried again; its next failure counts on from the last one, since the endpoint may answer this look and nothing
 * else.
 */
export function noteLook(
  { name, health }: Patient,
  { slot, slotsBehind, blockTime }: Look,
  { clock, log }: HealthWatch,
): void {
  const wasLagging = isLagging(health);
  const now = elapsed(clock);
  health.limited = null;
  const look = { time: blockTime, at: now };
  const isNewer = slot > health.slot;
  if (isNewer) health.movedAt = now;
  health.standsStill = now - health.movedAt >= STANDS_STILL_AFTER_MS;
  health.slotsBehind = slotsBehind;
  // Where blocks do not go on as time does, the machine may have slept: what was told before is no longer known to be so.
  if (isLagging(health)) health.blockTime = null;
  else if (isNewer) health.blockTime = isPaced(health.look, look) ? look : null;
  health.slot = slot;
  // After a standstill of the chain the next block may be older than it seems. So block times are measured from the last look
  // at which the chain moved.
  if (isNewer) health.look = look;
  if (!wasLagging && isLagging(health)) {
    log.warn({ endpoint: name, slotsBehind }, "a Solana endpoint lags and is asked after the others");
  }
  if (wasLagging && !isLagging(health)) {
    log.info({ endpoint: name, slotsBehind }, "a Solana endpoint has caught up");
  }
  if (health.avoidedUntil !== null && now >= health.avoidedUntil) health.avoidedUntil = null;
}

/** Logs once when the endpoint's time differs from the agreed time, and once when it agrees again. */
export function noteTime({ name, health }: Patient, time: number | null, { clock, log }: HealthWatch): void {
  const told = health.blockTime;
  const offMs = told === null || time === null ? 0 : told.time + elapsed(clock) - told.at - time;
  const isOff = Math.abs(offMs) > STOOD_STILL_MS;
  if (isOff !== health.isOff) {
    const said = isOff ? "tells another time than the others" : "tells the time of the others again";
    log.warn({ endpoint: name, offMs }, `a Solana endpoint ${said}`);
  }
  health.isOff = isOff;
}

function isPaced(before: EndpointTime | null, look: EndpointTime): boolean {
  return before !== null && Math.abs(look.time - before.time - (look.at - before.at)) <= STOOD_STILL_MS;
}

function isLagging({ slotsBehind }: EndpointHealth): boolean {
  return slotsBehind > MAX_SLOTS_BEHIND;
}
