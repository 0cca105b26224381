/** Exchanges the request counts of windows in memory with the other processes on the database, once a second. */
import type { PaymentService } from "../service/payment-service.ts";
import type { HitCounts } from "../payments/records.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { RateWindow } from "./rate-window.ts";

/** The parts that the exchange works with. */
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

  /** One exchange a second while requests come; without requests the storage is not asked. */
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
      // A database that fails is logged as an error by the work that needs it.
      log.debug({ err }, "the request counts of other processes could not be read");
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
