/** Remembers disagreements between endpoints until the endpoints agree again. */
import type { EndpointDispute } from "./ledger.ts";
import type { Clock } from "../core/runtime.ts";

// The most disputes: one for each kind of fact, so that a node that lies about everything does not fill the memory.
const MAX_DISPUTES = 100;
// A question that is asked no more, such as that for a deposit that was taken back, is never answered alike.
const FORGOTTEN_AFTER_MS = 10 * 60_000;

/** The disputes of one ledger. */
export class DisputeList {
  readonly #clock: Clock;
  readonly #bySubject = new Map<string, { readonly dispute: EndpointDispute; seenAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that these endpoints differ about a subject, and returns whether the dispute is a new one. */
  note(subject: string, endpoints: readonly string[] = []): boolean {
    const now = this.#clock.now();
    const known = this.#bySubject.get(subject);
    const since = known?.dispute.since ?? now;
    this.#bySubject.delete(subject);
    this.#bySubject.set(subject, { dispute: { subject, endpoints, since }, seenAt: now });
    const [oldest] = this.#bySubject.keys();
    if (this.#bySubject.size > MAX_DISPUTES && oldest !== undefined) this.#bySubject.delete(oldest);
    return known === undefined;
  }

  /** Ends a dispute: enough endpoints agree about the subject. */
  end(subject: string): void {
    this.#bySubject.delete(subject);
  }

  /** Lists the disputes that last, the oldest first. */
  standing(): readonly EndpointDispute[] {
    const now = this.#clock.now();
    return [...this.#bySubject.values()]
      .filter(({ seenAt }) => Math.abs(now - seenAt) < FORGOTTEN_AFTER_MS)
      .map(({ dispute }) => dispute)
      .toSorted((one, other) => one.since - other.since);
  }
}
