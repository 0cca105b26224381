/** Writes the remaining limit of an account into the headers of the IETF's RateLimit draft 11. */
import type { ErrorDetails } from "../errors.ts";
import type { LimitStatus } from "../payments/accounts/count-hit.ts";

/** Writes `RateLimit-Policy: "reads";q=120;w=60` and `RateLimit: "reads";r=119;t=60`, over existing values. */
export function writeRateLimit(
  headers: Headers,
  { scope, limit, windowSeconds, remaining, resetSeconds }: LimitStatus,
): void {
  headers.set("ratelimit-policy", `"${scope}";q=${limit};w=${windowSeconds}`);
  headers.set("ratelimit", `"${scope}";r=${remaining};t=${resetSeconds}`);
}

/** The standing of someone who was just refused: nothing left until `retryAfter`. */
export function standingWhenRefused({
  scope,
  limit,
  windowSeconds,
  retryAfter,
}: ErrorDetails["RATE_LIMIT_EXCEEDED"]): LimitStatus {
  return { scope, limit, windowSeconds, remaining: 0, resetSeconds: retryAfter };
}
