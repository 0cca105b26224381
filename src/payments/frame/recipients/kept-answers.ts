/** Keeps what the host's screening has answered, so that quotes and the orders after them do not pay for it again. */
import { elapsed, type Clock } from "../../../core/runtime.ts";
import type { ScreenAddress } from "./recipients.ts";

/** An answer is not used when it was asked for longer ago. */
const KEPT_MS = 10 * 60_000;
/** About 2 MB. Beyond it the oldest answer is asked for again. */
const MOST_KEPT = 10_000;

/**
 * The same screening, whose answers are kept for ten minutes while there is no order: who asks for a quote and then orders is
 * asked about once. Before money moves, the host is asked each time. An error is not kept.
 */
export function keepingAnswers(screen: ScreenAddress, clock: Clock): ScreenAddress {
  const kept = new Map<string, { readonly verdict: ReturnType<ScreenAddress>; readonly askedAt: number }>();
  return (address, as) => {
    if (as.transactionId !== null) return screen(address, as);
    const key = `${as.role} ${address}`;
    const now = elapsed(clock);
    const known = kept.get(key);
    if (known !== undefined && now - known.askedAt < KEPT_MS) return known.verdict;
    const verdict = screen(address, as);
    kept.delete(key);
    kept.set(key, { verdict, askedAt: now });
    verdict.catch(() => {
      if (kept.get(key)?.verdict === verdict) kept.delete(key);
    });
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return verdict;
  };
}
