/**
 * Upkeep by a single process for all on a storage: after the clock was set back, tasks that would wait longer than their delay
 * are moved; parked tasks whose keys have room are reported.
 */
import { elapsed } from "../../core/runtime.ts";
import type { EngineContext } from "./engine-context.ts";

/** The pause between checks of this process's clock, and of the storage's clock, which may differ. */
export const UPKEEP_EVERY_MS = 1_000;
const ASK_EVERY_MS = 60_000;
/** Between two looks a clock that nobody sets differs from elapsed time by less than this. */
const JUMP_MS = 1_000;
/** After a jump the storage is asked in two looks: in the first, another process may be about to commit by the old time. */
const ASKS_AFTER_JUMP = 2;
/** The lease is renewed after half of this time. Its row tells the time of the renewal: an earlier clock was set back. */
const LEASE_MS = 600_000;
const SEARCH_EVERY_MS = 600_000;

export class Upkeep {
  readonly #process: EngineContext;
  readonly #onMoved: () => void;
  readonly #reported = new Set<string>();
  #asksLeft = 0;
  #askedAt = -Infinity;
  #searchedAt = -Infinity;
  #aheadMs = 0;
  /** The highest time since the storage was asked. */
  #highest = 0;

  constructor(process: EngineContext, onMoved: () => void) {
    this.#process = process;
    this.#onMoved = onMoved;
  }

  /** Each second. The lease is never given up, so that a process that begins later knows of the clock. */
  async look(): Promise<void> {
    if (this.#isPut()) this.#asksLeft = ASKS_AFTER_JUMP;
    if (this.#asksLeft > 0 || this.#isTime(this.#askedAt, ASK_EVERY_MS)) await this.#ask();
  }

  #isTime(last: number, everyMs: number): boolean {
    return elapsed(this.#process.clock) - last >= everyMs;
  }

  /** On, too: the lease has to tell of the higher time. */
  #isPut(): boolean {
    const { clock } = this.#process;
    const [now, before] = [clock.now(), this.#aheadMs];
    this.#aheadMs = now - elapsed(clock);
    this.#highest = Math.max(this.#highest, now);
    return Math.abs(this.#aheadMs - before) > JUMP_MS;
  }

  async #ask(): Promise<void> {
    const { storage, clock, log, holder } = this.#process;
    const before = clock.now();
    const asked = { names: ["upkeep"], holder, now: () => clock.now(), leaseMs: LEASE_MS };
    const [lease] = await storage.lease({ ...asked, highest: this.#highest });
    this.#askedAt = elapsed(clock);
    this.#asksLeft = Math.max(0, this.#asksLeft - 1);
    if (this.#asksLeft === 0) this.#highest = before;
    const { setBackMs } = lease ?? {};
    if (setBackMs !== undefined) this.#onMoved();
    if (setBackMs !== undefined && this.#asksLeft === 0) {
      log.warn({ setBackMs }, "the clock was set back: the delays and leases of tasks count from now on");
    }
    if (lease?.holder === holder && this.#isTime(this.#searchedAt, SEARCH_EVERY_MS)) await this.#search();
  }

  async #search(): Promise<void> {
    const { storage, clock, log } = this.#process;
    this.#searchedAt = elapsed(clock);
    for (const { id, instance, workflow, limits } of await storage.tasks({ order: "forgotten" })) {
      if (this.#reported.has(id)) continue;
      this.#reported.add(id);
      const keys = limits.map(({ key }) => key);
      log.error(
        { task: id, instance, workflow, keys },
        "a task is parked although its keys have room: a defect",
      );
    }
  }
}
