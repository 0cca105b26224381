/** Lets windows in memory know of the requests that other processes count: told to each other once a second. */
import type { PaymentService } from "../service/payment-service.ts";
import type { HitCounts } from "../payments/records.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { RateWindow } from "./rate-window.ts";

/** What telling needs. */
export interface WindowSharing {
  readonly service: Pick<PaymentService, "exchangeHits">;
  readonly clock: Clock;
  readonly log: Logger;
}

const EVERY_MS = 1_000;

export class SharedWindows {
  readonly #parts: WindowSharing;
  readonly #windows = new Map<string, RateWindow>();
  #isTelling = false;

  constructor(parts: WindowSharing) {
    this.#parts = parts;
  }

  /** Shares a window under a name that it has in every process. */
  add(name: string, window: RateWindow): void {
    this.#windows.set(name, window);
    window.onCounted(() => void this.#tellWhileCounting());
  }

  /** A second after a first request, and once a second while more come; without any, nothing is asked of the storage. */
  async #tellWhileCounting(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const { clock, log } = this.#parts;
    try {
      for (;;) {
        await clock.sleep(EVERY_MS);
        const counts = this.#counted();
        if (Object.keys(counts).length === 0) return;
        await this.#exchange(counts);
      }
    } catch (err) {
      // All else that asks the database says so louder.
      log.debug({ err }, "what other processes have counted is not known");
    } finally {
      this.#isTelling = false;
    }
  }

  async #exchange(counted: HitCounts): Promise<void> {
    for (const { at, counts } of await this.#parts.service.exchangeHits(counted)) {
      for (const [name, keys] of Object.entries(counts)) {
        const window = this.#windows.get(name);
        for (const [key, count] of Object.entries(keys)) window?.addOthers(key, { at, count });
      }
    }
  }

  #counted(): HitCounts {
    const counted = [...this.#windows].map(([name, window]) => [name, window.takeCounted()] as const);
    return Object.fromEntries(counted.filter(([, keys]) => Object.keys(keys).length > 0));
  }
}
