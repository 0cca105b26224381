/** The refusal of a request whose window is full. */
import { PaymentError } from "../errors.ts";
import type { LimitStatus } from "../payments/accounts/count-hit.ts";
import type { Tier } from "../payments/tables/identity.ts";

/** `tier` is "none" for a client without an account. */
export function limitExceeded(
  { scope, limit, windowSeconds, resetSeconds: retryAfter }: LimitStatus,
  tier: Tier | "none",
): PaymentError<"RATE_LIMIT_EXCEEDED"> {
  return new PaymentError("RATE_LIMIT_EXCEEDED", { scope, limit, windowSeconds, retryAfter, tier });
}
