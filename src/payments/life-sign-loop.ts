/** Signs of life of the processes at work on a database, and the gaps between them, in which another copy may have been. */
import { commitOne } from "../../storage/decided.ts";
import type { LifeRecord } from "./tables/database.ts";
import type { PaymentStorage, PaymentWrite } from "./payment-storage.ts";
import type { Clock, Logger } from "../runtime.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { storageTime } from "./service-context.ts";
import type { TimeWindow } from "../ledger/routing.ts";
import type { DepositRecord } from "./tables/deposits.ts";

interface SignParts {
  readonly storage: Pick<PaymentStorage, "newestLife" | "lives" | "commit" | "time">;
  readonly ledger: Pick<Ledger, "time">;
  /** The clock for pauses; signs are dated by the storage, so that all processes mean the same time. */
  readonly clock: Clock;
  readonly log: Logger;
}

/** The pause between signs: one small commit a minute, for all processes together. */
const SIGN_EVERY_MS = 60_000;
/** A sign almost a minute old is renewed; the first process renews the sign for all. */
const IS_OLD_MS = 50_000;
/**
 * The number of lives that are kept. A further life removes the second oldest, so that the two oldest gaps and the life
 * between them become one gap: an address older than both gaps is checked as before, and an address of the removed life
 * for a longer time than necessary.
 */
const MAX_LIVES = 200;

/** From `start` to `stop` a process gives signs. */
export class LifeSignLoop {
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
        if (signal.aborted) return;
        log.warn({ err }, "a sign of life could not be stored; it is given again in a minute");
      });
      await this.#signing;
    }
  }

  async #give(): Promise<void> {
    const { storage, ledger, log } = this.#parts;
    const [newest, now] = await Promise.all([storage.newestLife(), storageTime(this.#parts)]);
    const chain = await ledger.time();
    const isTold = chain !== null && Math.abs(chain - now) <= CLOCKS_MS;
    // No sign is of a time that has not come.
    if (isTold && this.#seen !== null) this.#seen = Math.min(this.#seen, now);
    if (isTold && newest !== null && newest.until > now + CLOCKS_MS) return this.#dateAnew(now);
    if (newest === null || this.#isAfterGap(newest, now)) {
      await this.#commit(await this.#beginLife(newest, now));
      if (newest !== null) log.warn(newest, "no process was at work on this database for a while");
    } else if (chain !== null && !isTold) return;
    else if (now - newest.until >= IS_OLD_MS) {
      const { id, version: expectedVersion } = newest;
      // Refused where another process has just done it.
      await this.#commit([{ table: "lives", id, set: { until: now }, expectedVersion }]);
    }
    this.#seen = Math.max(this.#seen ?? now, now, newest?.until ?? now);
  }

  /**
   * Dates signs of a clock that had been put on by the present time, when clock and chain agree: otherwise no chain
   * could show the time before such a life, and nothing would be paid until that time has come.
   */
  async #dateAnew(now: number): Promise<void> {
    const { storage, log } = this.#parts;
    const ahead = (await storage.lives()).filter(({ until }) => until > now + CLOCKS_MS);
    await this.#commit(
      ahead.map(({ id, version: expectedVersion, since }): PaymentWrite => {
        const set = { since: Math.min(since, now), until: now };
        return { table: "lives", id, set, expectedVersion };
      }),
    );
    this.#seen = now;
    log.warn({ lives: ahead.map(({ id }) => id) }, "a clock had been put on: signs of life end now");
  }

  /**
   * A start finds the last sign old. A process at work knows that it has given a later one, unless the database was replaced
   * by an older copy under its hands.
   */
  #isAfterGap({ until }: LifeRecord, now: number): boolean {
    return this.#seen === null ? now - until > GAP_MS : this.#seen - until > GAP_MS;
  }

  /** Named after the life before it: of several processes that start at once after a gap one begins the next life. */
  async #beginLife(before: LifeRecord | null, now: number): Promise<readonly PaymentWrite[]> {
    const id = `life_after_${before?.since ?? "none"}`;
    const lives = before === null ? [] : await this.#parts.storage.lives();
    const surplus = lives.length < MAX_LIVES ? [] : lives.slice(1, lives.length - MAX_LIVES + 2);
    return [
      { table: "lives", insert: { id, version: 1, since: now, until: now } },
      ...surplus.map((life): PaymentWrite => ({
        table: "lives",
        remove: life.id,
        expected: { version: life.version },
      })),
    ];
  }

  async #commit(writes: readonly PaymentWrite[]): Promise<void> {
    await commitOne(this.#parts.storage, { writes });
  }
}

/** A start that finds no younger sign of life comes after a gap. A restart takes less. */
const GAP_MS = 3 * 60_000;
/** The clock of the storage, by which signs are given, and that of the chain's blocks may differ by so much. */
const CLOCKS_MS = 2 * 60_000;

/**
 * The time of which the chain must show what an address has signed: from the oldest gap for which it was not checked, or from
 * its creation where that was later, to the end of the newest. Null where the database missed nothing of it.
 */
export function uncheckedTime(
  lives: readonly LifeRecord[],
  { createdAt, checkedTo }: Pick<DepositRecord, "createdAt" | "checkedTo">,
): TimeWindow | null {
  const known = Math.max(createdAt, checkedTo ?? createdAt);
  const unchecked = gapsBetween(lives).filter(({ to }) => to > known);
  if (unchecked.length === 0) return null;
  const oldest = Math.min(...unchecked.map(({ from }) => from));
  return { from: Math.max(createdAt, oldest - CLOCKS_MS), to: Math.max(...unchecked.map(({ to }) => to)) };
}

/**
 * The lives as a start would find them that came a little ago: before anything is started on a restored copy, the time since
 * its last sign is a gap as well. It ends early enough for the final blocks of a healthy endpoint to reach its end.
 */
export function livesUntil(lives: readonly LifeRecord[], now: number): readonly LifeRecord[] {
  const end = now - CLOCKS_MS;
  const last = lives.at(-1);
  if (last === undefined || end - last.until <= GAP_MS) return lives;
  return [...lives, { id: "", version: 0, since: end, until: end }];
}

function gapsBetween(lives: readonly LifeRecord[]): readonly TimeWindow[] {
  return lives.flatMap(({ since: to }, index): TimeWindow[] => {
    const from = lives[index - 1]?.until ?? to;
    // Two processes that start at once may each begin a life.
    return to - from > GAP_MS ? [{ from, to }] : [];
  });
}
