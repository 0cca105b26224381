/** One export at a time for each account, in this process. */
import { PaymentError } from "../../../errors/errors.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { Caller } from "../accounts/caller.ts";

/** After this time without a read, another export takes its place: a connection that hangs shuts nobody out. */
const IDLE_SECONDS = 60;

/** The place of an export that is being read. */
export interface ExportPlace {
  /** Goes on. Throws where another export has taken the place. */
  readonly keep: () => void;
  readonly leave: () => void;
}

export class ExportPlaces {
  readonly #clock: Clock;
  /** The time of the last read, by account; each export has an object of its own. */
  readonly #taken = new Map<string, { readAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `RATE_LIMIT_EXCEEDED` while another export of the account is being read. */
  take({ accountId, tier }: Caller): ExportPlace {
    const own = { readAt: this.#clock.now() };
    const idle = Math.abs(own.readAt - (this.#taken.get(accountId)?.readAt ?? -Infinity)) / 1_000;
    if (idle < IDLE_SECONDS) {
      const retryAfter = Math.ceil(IDLE_SECONDS - idle);
      const window = { limit: 1, windowSeconds: IDLE_SECONDS, retryAfter };
      throw new PaymentError("RATE_LIMIT_EXCEEDED", { scope: "export", ...window, tier });
    }
    this.#taken.set(accountId, own);
    const isOwn = (): boolean => this.#taken.get(accountId) === own;
    return {
      keep: () => {
        if (!isOwn()) throw new Error("another export of the account has taken the place of this one");
        own.readAt = this.#clock.now();
      },
      leave: () => void (isOwn() && this.#taken.delete(accountId)),
    };
  }
}
