/**
 * What one process does for all of them: after the clock was set back it sees to it that nothing waits for longer than its own
 * delay, and it reports what a storage has forgotten.
 */
import { elapsed } from "../runtime.ts";
import type { EngineProcess } from "./engine-process.ts";

/** How often this process looks at its own clock, and how often at that of the storage, which may be another one. */
const LOOK_EVERY_MS = 5_000;
const ASK_EVERY_MS = 60_000;
/** Half of it after it was given the lease is given anew, and tells when: a clock that is before that was set back. */
const LEASE_MS = 600_000;
const SEARCH_EVERY_MS = 600_000;

export class Upkeep {
  readonly #process: EngineProcess;
  readonly #onMoved: () => void;
  readonly #reported = new Set<string>();
  #askedAt = -Infinity;
  #searchedAt = -Infinity;
  #aheadMs = -Infinity;

  constructor(process: EngineProcess, onMoved: () => void) {
    this.#process = process;
    this.#onMoved = onMoved;
  }

  /** Until the signal aborts. The lease is never given up, so that a process that begins later knows of the clock. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#process;
    while (!signal.aborted) {
      // A storage that cannot be read is logged by the loop that claims.
      if (this.#isSetBack() || this.#isTime(this.#askedAt, ASK_EVERY_MS)) await this.#ask().catch(() => {});
      if (!signal.aborted) await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  #isTime(last: number, everyMs: number): boolean {
    return elapsed(this.#process.clock) - last >= everyMs;
  }

  #isSetBack(): boolean {
    const { clock } = this.#process;
    const before = this.#aheadMs;
    this.#aheadMs = clock.now() - elapsed(clock);
    return before - this.#aheadMs > LOOK_EVERY_MS;
  }

  async #ask(): Promise<void> {
    const { storage, clock, log, holder } = this.#process;
    this.#askedAt = elapsed(clock);
    const asked = { names: ["upkeep"], holder, now: clock.now(), leaseMs: LEASE_MS, movesTasks: true };
    const [lease] = await storage.lease(asked);
    if (lease?.holder !== holder) return;
    const { setBackMs } = lease;
    if (setBackMs !== undefined) {
      log.warn({ setBackMs }, "the clock was set back: the delays and leases of tasks count from now on");
      this.#onMoved();
    }
    if (this.#isTime(this.#searchedAt, SEARCH_EVERY_MS)) await this.#search();
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
