/** Exact sliding windows that all processes on one database share (CONTRACT section 5). */
import type { LimitHitRecord, Tier } from "../../storage/records.ts";
import type { PaymentStorage } from "../../storage/storage.ts";
import { PaymentError } from "../errors.ts";
import type { Clock, Random } from "../runtime.ts";
import type { Caller } from "./caller.ts";
import { newId } from "./ids.ts";

/** How often something may be done within a window, by tier. */
export interface DurableLimit {
  readonly scope: string;
  readonly windowSeconds: number;
  readonly perTier: Readonly<Record<Tier, number>>;
}

/** SPEC, Limits. */
export const CANCEL_LIMIT: DurableLimit = {
  scope: "cancel",
  windowSeconds: 60,
  perTier: { free: 10, pro: 50, enterprise: 200 },
};

/** SPEC, Limits. */
export const WEBHOOK_REGISTRATION_LIMIT: DurableLimit = {
  scope: "webhook_registration",
  windowSeconds: 3_600,
  perTier: { free: 10, pro: 50, enterprise: 200 },
};

/** What is left of a window after a request was counted: what the RateLimit headers say. */
export interface LimitStanding {
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Whole seconds until the oldest counted request leaves the window. */
  readonly resetSeconds: number;
}

/**
 * Counts one request, in a commit of its own, so that it counts whatever becomes of it. Throws `RATE_LIMIT_EXCEEDED`
 * when the window is full. However many race, on however many processes, no window ever holds more than its limit.
 */
export async function countHit(
  {
    storage,
    clock,
    random,
  }: { readonly storage: PaymentStorage; readonly clock: Clock; readonly random: Random },
  { accountId, tier }: Caller,
  { scope, windowSeconds, perTier }: DurableLimit,
): Promise<LimitStanding> {
  const limit = perTier[tier];
  const at = clock.now();
  const since = at - windowSeconds * 1_000;
  const hit: LimitHitRecord = { id: newId("hit", random), accountId, scope, at };
  const [result] = await storage.commit([
    { writes: [{ table: "limitHits", insert: hit, atMost: { count: limit, since } }] },
  ]);
  const { count, oldest } = await storage.limitWindow(accountId, scope, since);
  const resetSeconds = Math.max(1, Math.ceil(((oldest ?? at) + windowSeconds * 1_000 - at) / 1_000));
  if (result?.ok !== true) {
    throw new PaymentError("RATE_LIMIT_EXCEEDED", {
      scope,
      limit,
      windowSeconds,
      retryAfter: resetSeconds,
      tier,
    });
  }
  return { scope, limit, windowSeconds, remaining: Math.max(0, limit - count), resetSeconds };
}
