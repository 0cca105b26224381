/** How long an engine keeps what has ended, and how much there is. */
import type { EngineProcess } from "../engine-process.ts";
import { finishedSweep, type FinishedParts } from "./finished-instances.ts";
import { KeepLoop, type KeepStanding } from "./keep-loop.ts";

/** What is stored, and how long it stays. */
export interface RetentionStanding extends KeepStanding {
  /** How long an instance that has ended is kept, in milliseconds; null: until it is removed by hand. */
  readonly finishedMs: number | null;
  /** How long ago the oldest instance that has ended made its last step, in milliseconds; null where none has ended. */
  readonly oldestFinishedMs: number | null;
  /** How many bytes the data of the whole storage takes; null where that is not known. */
  readonly bytes: number | null;
}

/** What retention needs. */
export interface RetentionParts extends EngineProcess, Pick<FinishedParts, "archive"> {
  readonly keepMs: number | null;
}

/** The removals of one engine. */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #loop: KeepLoop;

  constructor(parts: RetentionParts) {
    const { keepMs } = parts;
    this.#parts = parts;
    const sweeps = keepMs === null ? [] : [finishedSweep({ ...parts, keepMs })];
    this.#loop = new KeepLoop(sweeps, { ...parts, name: "finished" });
  }

  run(): void {
    this.#loop.run();
  }

  stop(timeoutMs: number): Promise<void> {
    return this.#loop.stop(timeoutMs);
  }

  /** Rejects when the storage does. */
  async standing(): Promise<RetentionStanding> {
    const { storage, clock, keepMs } = this.#parts;
    const until = Number.MAX_SAFE_INTEGER;
    const [bytes, [oldest]] = await Promise.all([
      storage.size(),
      storage.list({ order: "ended", until, after: null, limit: 1 }),
    ]);
    const oldestFinishedMs = oldest === undefined ? null : Math.max(0, clock.now() - oldest.updatedAt);
    return { finishedMs: keepMs, oldestFinishedMs, bytes, ...this.#loop.standing() };
  }
}
