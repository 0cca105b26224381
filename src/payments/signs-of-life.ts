/** Signs of life: a row that tells when a process was last at work on the database, and where another copy may have been. */
import { commitOne } from "../../storage/decided.ts";
import type { LifeRecord } from "./records.ts";
import type { PaymentStorage, PaymentWrite } from "./payment-storage.ts";
import type { Clock, Logger, Random } from "../runtime.ts";
import { GAP_MS } from "./gaps.ts";
import { newId } from "./ids.ts";

/** What signs are made with. */
export interface SignParts {
  readonly storage: Pick<PaymentStorage, "lives" | "commit">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** One small commit a minute, of all processes together. */
const SIGN_EVERY_MS = 60_000;
/** A sign that is almost a minute old is renewed: the process that comes first does it for all. */
const IS_OLD_MS = 50_000;

/** From `start` to `stop` a process gives signs. */
export class SignsOfLife {
  readonly #parts: SignParts;
  /** The last sign that this process has read or given since it started; null before. */
  #seen: number | null = null;
  #running: AbortController | null = null;
  #signing: Promise<void> = Promise.resolve();

  constructor(parts: SignParts) {
    this.#parts = parts;
  }

  /** Gives the first sign: after a gap it begins a new life, which is stored before anything else is done. Rejects when storage does. */
  async start(): Promise<void> {
    if (this.#running !== null) return;
    await this.#give();
    this.#running = new AbortController();
    void this.#keepGiving(this.#running.signal);
  }

  /** Gives no sign any more, and waits for the one in hand. */
  async stop(): Promise<void> {
    this.#running?.abort();
    this.#running = null;
    this.#seen = null;
    await this.#signing;
  }

  async #keepGiving(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    for (;;) {
      await clock.sleep(SIGN_EVERY_MS, signal);
      if (signal.aborted) return;
      this.#signing = this.#give().catch((err: unknown) => {
        log.warn({ err }, "a sign of life could not be stored; it is given again in a minute");
      });
      await this.#signing;
    }
  }

  async #give(): Promise<void> {
    const { storage, clock, log } = this.#parts;
    const now = clock.now();
    const newest = (await storage.lives()).at(-1);
    if (newest === undefined || this.#isAfterGap(newest, now)) {
      await this.#commit(this.#newLife(now));
      if (newest !== undefined) log.warn(newest, "no process was at work on this database for a while");
    } else if (now - newest.until >= IS_OLD_MS) {
      const { id, version: expectedVersion } = newest;
      // Refused where another process has just done it.
      await this.#commit({ table: "lives", id, set: { until: now }, expectedVersion });
    }
    this.#seen = Math.max(this.#seen ?? now, now, newest?.until ?? now);
  }

  /**
   * A start finds the last sign old. A process at work knows that it has given a later one, unless the database was replaced
   * by an older copy under its hands.
   */
  #isAfterGap({ until }: LifeRecord, now: number): boolean {
    return this.#seen === null ? now - until > GAP_MS : this.#seen - until > GAP_MS;
  }

  #newLife(now: number): PaymentWrite {
    const insert = { id: newId("life", now, this.#parts.random), version: 1, since: now, until: now };
    return { table: "lives", insert };
  }

  async #commit(write: PaymentWrite): Promise<void> {
    await commitOne(this.#parts.storage, { writes: [write] });
  }
}
