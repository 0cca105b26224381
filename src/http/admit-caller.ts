/** Whether an account that is who it says may go on: its key's scopes and how much it has asked lately. */
import type { Tier } from "../../storage/records.ts";
import { PaymentError } from "../errors.ts";
import type { Caller } from "../payments/caller.ts";
import type { DurableScope } from "../payments/count-hit.ts";
import type { Clock } from "../runtime.ts";
import { writeRateLimit } from "./rate-limit-headers.ts";
import { createRateWindow, WINDOW_SECONDS } from "./rate-window.ts";
import type { Hit } from "./rate-window.ts";
import type { Route, WindowName } from "./routes.ts";

/** Requests per minute and account, by tier. */
export type PerTier = Readonly<Record<Tier, number>>;

/** Every in-memory limit. */
export type AccountLimits = Readonly<Record<WindowName, PerTier>>;

/**
 * Counts a request and writes its standing; null when the service counts it. A path or method that does not exist
 * counts as a read. Throws `INSUFFICIENT_SCOPE`, which has counted too where it is counted here, or
 * `RATE_LIMIT_EXCEEDED`.
 */
export type Admit = (route: Route | undefined, caller: Caller, headers: Headers) => Hit | null;

export function createAdmission(limits: AccountLimits, clock: Clock): Admit {
  const windows = {
    reads: createRateWindow({ scope: "reads", clock }),
    quotes: createRateWindow({ scope: "quotes", clock }),
    creates: createRateWindow({ scope: "creates", clock }),
    webhookTests: createRateWindow({ scope: "webhook_test", clock }),
  };

  const count = (name: WindowName, { accountId, tier }: Caller, headers: Headers): Hit => {
    const hit = windows[name].hit(accountId, limits[name][tier]);
    writeRateLimit(headers, hit.standing);
    return hit;
  };

  return (route, caller, headers) => {
    const name = route?.limit ?? "reads";
    const hit = isDurable(name) ? null : count(name, caller, headers);
    if (route !== undefined && !caller.scopes.includes(route.scope)) {
      throw new PaymentError("INSUFFICIENT_SCOPE", { required: route.scope });
    }
    if (hit?.accepted === false) throw limitExceeded(hit, caller.tier);
    return hit;
  };
}

/** Whether the service counts a limit itself, because all processes on one database share it. */
export function isDurable(limit: WindowName | DurableScope): limit is DurableScope {
  return limit === "cancel" || limit === "webhook_registration";
}

/** The refusal of a hit that was not accepted; `tier` is "none" for somebody without an account. */
export function limitExceeded({ standing }: Hit, tier: Tier | "none"): PaymentError<"RATE_LIMIT_EXCEEDED"> {
  const { scope, limit, resetSeconds: retryAfter } = standing;
  return new PaymentError("RATE_LIMIT_EXCEEDED", {
    scope,
    limit,
    windowSeconds: WINDOW_SECONDS,
    retryAfter,
    tier,
  });
}
