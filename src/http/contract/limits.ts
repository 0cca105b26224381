/**
 * The limits on requests: the limits counted in this process, their names in headers, and the number of requests each
 * allows.
 */
import type { DurableScope } from "../../payments/frame/accounts/count-hit.ts";
import type { Tier } from "../../payments/frame/tables/identity.ts";

/** Requests per minute and account, by tier. */
export type TierLimits = Readonly<Record<Tier, number>>;

/** A limit that is counted in this process, as the handler's options name it. */
interface Window {
  /** The name in the RateLimit headers. */
  readonly scope: string;
  /** Requests per minute and account, unless the options say otherwise. */
  readonly perMinute: TierLimits;
}

export const WINDOWS = {
  reads: { scope: "reads", perMinute: { free: 120, pro: 600, enterprise: 3_000 } },
  quotes: { scope: "quotes", perMinute: { free: 60, pro: 300, enterprise: 1_200 } },
  quoteParties: { scope: "quote_parties", perMinute: { free: 200, pro: 2_000, enterprise: 10_000 } },
  creates: { scope: "creates", perMinute: { free: 30, pro: 150, enterprise: 600 } },
  webhookTests: { scope: "webhook_test", perMinute: { free: 10, pro: 50, enterprise: 200 } }, // modules: webhooks
} as const satisfies Readonly<Record<string, Window>>;

export type WindowName = keyof typeof WINDOWS;

/** Per minute and client address: failed authentications, and reads of what needs no key. */
export const PER_CLIENT = { failedAuthentications: 60, documents: 60 } as const;

/** Whether the service counts a limit itself, because all processes on one database share it. */
export function isDurable(limit: WindowName | DurableScope): limit is DurableScope {
  return !Object.hasOwn(WINDOWS, limit);
}

/** The name of a limit in the RateLimit headers. */
export function scopeOf(limit: WindowName | DurableScope | "documents"): string {
  return limit === "documents" || isDurable(limit) ? limit : WINDOWS[limit].scope;
}
