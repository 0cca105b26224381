/** How long an engine keeps what has ended, and how much there is. */
import type { EngineContext } from "../engine-context.ts";
import { finishedSweep, type FinishedParts } from "./finished-instances.ts";
import { RetentionLoop, type RemovalStatus } from "./retention-loop.ts";

/** What is stored, and how long it stays. */
export interface RetentionStatus extends RemovalStatus {
  /** How long an instance that has ended is kept, in milliseconds; null: until it is removed by hand. */
  readonly finishedMs: number | null;
  /** How long ago the oldest instance that has ended made its last step, in milliseconds; null where none has ended. */
  readonly oldestFinishedMs: number | null;
  /** How many bytes the data of the whole storage takes; null where that is not known. */
  readonly bytes: number | null;
}

interface RetentionParts extends EngineContext, Pick<FinishedParts, "archive"> {
  readonly keepMs: number | null;
}

export class InstanceRetentionLoop extends RetentionLoop {
  readonly #parts: RetentionParts;

  constructor(parts: RetentionParts) {
    const { keepMs } = parts;
    super(keepMs === null ? [] : [finishedSweep({ ...parts, keepMs })], { ...parts, name: "finished" });
    this.#parts = parts;
  }

  /** Rejects when the storage does. */
  async standingWithStorage(): Promise<RetentionStatus> {
    const { storage, clock, keepMs } = this.#parts;
    const until = Number.MAX_SAFE_INTEGER;
    const [bytes, [oldest]] = await Promise.all([
      storage.size(),
      storage.list({ order: "ended", until, after: null, limit: 1 }),
    ]);
    const oldestFinishedMs = oldest === undefined ? null : Math.max(0, clock.now() - oldest.updatedAt);
    return { finishedMs: keepMs, oldestFinishedMs, bytes, ...this.standing() };
  }
}
