/** Retention: how long an engine keeps ended instances, and how many are stored. */
import type { EngineContext } from "../engine-context.ts";
import { finishedSweep, type FinishedParts } from "./finished-instances.ts";
import { RetentionLoop, type RemovalStatus } from "./retention-loop.ts";

/** The state of retention: stored instances, and their time to live. */
export interface RetentionStatus extends RemovalStatus {
  /** The time for which ended instances are kept, in milliseconds; null: until they are removed by hand. */
  readonly finishedMs: number | null;
  /** The age of the oldest last step of an ended instance, in milliseconds; null without ended instances. */
  readonly oldestFinishedMs: number | null;
  /** The size of all data in the storage, in bytes; null for an unknown size. */
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
