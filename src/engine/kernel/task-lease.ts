/** Tracks a task in hand: whether this process still holds its lease, and whether the chart still waits for its end. */
import type { ClaimedTask } from "../../../storage/storage.ts";
import { elapsed } from "../../core/runtime.ts";
import type { EffectRun } from "../../workflow/effect-run.ts";
import type { EngineContext } from "./engine-context.ts";

export class TaskLease {
  readonly #process: Pick<EngineContext, "clock" | "leaseMs">;
  /** When it was last asked for with success, by the elapsed time of the clock. */
  extendedAt: number;
  isLost = false;
  /** Whether the chart has left the state that the task belongs to: no chart waits for its end any more. */
  isDisarmed = false;
  #abort: AbortController | null = null;
  #onDisarmed: () => void = () => {};

  constructor(process: Pick<EngineContext, "clock" | "leaseMs">, leasedAt: number) {
    this.#process = process;
    this.extendedAt = leasedAt;
  }

  /** Until it ends by this process's own clock. */
  get leftMs(): number {
    const { clock, leaseMs } = this.#process;
    return this.extendedAt + leaseMs - elapsed(clock);
  }

  /** Aborts when the lease is lost. Made when it is first read: most tasks never read it, and making it is slow. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isLost) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Resolves when the task is disarmed. At most one caller may wait. */
  untilDisarmed(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDisarmed = resolve;
      if (this.isDisarmed) resolve();
    });
  }

  /** Before a handler begins, behind all that it waited for. @throws when nobody waits for its end, or another process has the task. */
  checkHeld(): void {
    this.loseEnded();
    if (this.isLost) throw new Error("the task was lost before its handler began");
  }

  disarm(): void {
    this.isDisarmed = true;
    this.lose();
    this.#onDisarmed();
  }

  /** Another process may do by now what could not be extended for a lease, as where this one was frozen. */
  loseEnded(): void {
    if (!this.isLost && this.leftMs <= 0) this.lose();
  }

  lose(): void {
    this.isLost = true;
    this.#abort?.abort();
  }
}

/** The run of a handler or a promise, as its code sees it. */
export function runOf(
  { id: key, instance, dueAt, crashes, failures }: ClaimedTask,
  lease: TaskLease,
): EffectRun {
  return {
    key,
    instance,
    dueAt,
    get signal() {
      return lease.signal;
    },
    crashes,
    failures,
  };
}
