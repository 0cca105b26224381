/** How a caller stands with a limit: in the headers of the IETF's RateLimit draft 11, and as the refusal of a full window. */
import { PaymentError } from "../errors.ts";
import type { LimitStatus } from "../payments/accounts/count-hit.ts";
import type { Tier } from "../payments/tables/identity.ts";

/** Writes `RateLimit-Policy: "reads";q=120;w=60` and `RateLimit: "reads";r=119;t=60`, over existing values. */
export function writeRateLimit(
  headers: Headers,
  { scope, limit, windowSeconds, remaining, resetSeconds }: LimitStatus,
): void {
  headers.set("ratelimit-policy", `"${scope}";q=${limit};w=${windowSeconds}`);
  headers.set("ratelimit", `"${scope}";r=${remaining};t=${resetSeconds}`);
}

/** `tier` is "none" for a client without an account. */
export function limitExceeded(
  { scope, limit, windowSeconds, resetSeconds: retryAfter }: LimitStatus,
  tier: Tier | "none",
): PaymentError<"RATE_LIMIT_EXCEEDED"> {
  return new PaymentError("RATE_LIMIT_EXCEEDED", { scope, limit, windowSeconds, retryAfter, tier });
}
