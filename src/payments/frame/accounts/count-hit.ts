/** Counts requests in exact sliding windows that all processes on one database share. */
import { commitOne } from "../../../../storage/decided.ts";
import type { LimitHitRecord } from "../tables/limits.ts";
import type { Tier } from "../tables/identity.ts";
import type { FrameStorage } from "../frame-storage.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Clock, Random } from "../../../core/runtime.ts";
import type { Caller } from "./caller.ts";
import { newId } from "../ids.ts";

/** The most requests within a window, by tier. */
interface DurableLimit {
  readonly windowSeconds: number;
  readonly perTier: Readonly<Record<Tier, number>>;
}

export const DURABLE_LIMITS = {
  cancel: { windowSeconds: 60, perTier: { free: 10, pro: 50, enterprise: 200 } },
  webhook_registration: { windowSeconds: 3_600, perTier: { free: 10, pro: 50, enterprise: 200 } }, // modules: webhooks
} as const satisfies Readonly<Record<string, DurableLimit>>;

/** Limits that are counted across processes. */
export type DurableScope = keyof typeof DURABLE_LIMITS;

export const DURABLE_SCOPES = Object.keys(DURABLE_LIMITS) as readonly DurableScope[];

/** The state of a window after counting a request: what the RateLimit headers say. */
export interface LimitStatus {
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Whole seconds until the oldest counted request leaves the window. */
  readonly resetSeconds: number;
}

interface HitParts {
  readonly storage: Pick<FrameStorage, "commit" | "limitWindow">;
  readonly clock: Clock;
  readonly random: Random;
}

interface DurableHit {
  readonly standing: LimitStatus;
  /** Takes it out of the window again and answers the standing without it: a replayed answer costs nothing. */
  readonly takeBack: () => Promise<LimitStatus>;
}

/**
 * Counts one request, in a commit of its own: it counts also when the request is refused. Throws `RATE_LIMIT_EXCEEDED`
 * when the window is full. No window ever holds more than its limit, however many requests and processes race.
 */
export async function countHit(
  { storage, clock, random }: HitParts,
  { accountId, tier }: Caller,
  scope: DurableScope,
): Promise<DurableHit> {
  const { windowSeconds, perTier } = DURABLE_LIMITS[scope];
  const limit = perTier[tier];
  const at = clock.now();
  const since = at - windowSeconds * 1_000;
  const hit: LimitHitRecord = { id: newId("hit", at, random), accountId, scope, at };
  const result = await commitOne(storage, {
    writes: [{ table: "limitHits", insert: hit, atMost: { count: limit, since } }],
  });
  const standing = await limitStatus({ storage, clock }, { accountId, tier }, scope);
  if (!result.ok) {
    const { resetSeconds: retryAfter } = standing;
    throw new PaymentError("RATE_LIMIT_EXCEEDED", { scope, limit, windowSeconds, retryAfter, tier });
  }
  return {
    standing,
    async takeBack() {
      // At time 0 it lies in no window.
      await commitOne(storage, { writes: [{ table: "limitHits", id: hit.id, set: { at: 0 } }] });
      return limitStatus({ storage, clock }, { accountId, tier }, scope);
    },
  };
}

/** The state of an account's limit, without counting anything. */
export async function limitStatus(
  { storage, clock }: Pick<HitParts, "storage" | "clock">,
  { accountId, tier }: Pick<Caller, "accountId" | "tier">,
  scope: DurableScope,
): Promise<LimitStatus> {
  const { windowSeconds, perTier } = DURABLE_LIMITS[scope];
  const limit = perTier[tier];
  const at = clock.now();
  const { count, oldest } = await storage.limitWindow(accountId, scope, at - windowSeconds * 1_000);
  const resetSeconds = Math.max(1, Math.ceil(((oldest ?? at) + windowSeconds * 1_000 - at) / 1_000));
  return { scope, limit, windowSeconds, remaining: Math.max(0, limit - count), resetSeconds };
}
