/** Waits until an instance is in a state: told of this process's commits at once, of others' by looking. */
import type { Commit, EngineStorage, InstanceRecord } from "../../../storage/storage.ts";
import type { Clock } from "../../runtime.ts";
import type { ChartSnapshot } from "../chart.ts";
import { Pause } from "../pause.ts";
import { snapshotFromText } from "../snapshot-text.ts";
import { stateMatches } from "./state-matches.ts";

/** The target of a wait: the end of the instance, however it ends, or a state such as `paying` or `paying.card`. */
export type WaitTarget = "final" | { readonly state: string };

/** The instance has ended in a state other than the awaited one. */
export class StateNotReached extends Error {
  override readonly name = "StateNotReached";
  /** The instance as it ended. */
  readonly snapshot: ChartSnapshot;

  constructor(id: string, state: string, snapshot: ChartSnapshot) {
    super(`instance ${id} has ended (${snapshot.status}) in another state than "${state}"`);
    this.snapshot = snapshot;
  }
}

/** The engine that was asked to wait has stopped. */
export class EngineStopped extends Error {
  override readonly name = "EngineStopped";
}

type StoredRun = Pick<InstanceRecord, "status" | "snapshot">;

class Waiter {
  readonly until: WaitTarget;
  /**
   * The snapshot in the awaited state, or the final snapshot when the instance has ended without reaching the state.
   */
  last: { readonly snapshot: ChartSnapshot; readonly isReached: boolean } | null = null;
  /** Ended by the last snapshot. */
  readonly pause: Pause;

  constructor(until: WaitTarget, clock: Clock) {
    this.until = until;
    this.pause = new Pause(clock);
  }

  /** Takes notice of a snapshot; snapshots after the last one are ignored. */
  see({ status, snapshot: text }: StoredRun): void {
    const hasEnded = status === "done";
    if (this.last !== null || (this.until === "final" && !hasEnded)) return;
    const snapshot = snapshotFromText(text);
    const isReached = this.until === "final" || stateMatches(snapshot.value, this.until.state);
    if (!isReached && !hasEnded) return;
    this.last = { snapshot, isReached };
    this.pause.end();
  }
}

export class InstanceWaitList {
  readonly #storage: Pick<EngineStorage, "load">;
  readonly #clock: Clock;
  readonly #pollMs: number;
  readonly #waiters = new Map<string, Set<Waiter>>();
  /** Later waiters wait for the next `stop`. */
  #stopping = new AbortController();

  constructor(storage: Pick<EngineStorage, "load">, clock: Clock, pollMs: number) {
    this.#storage = storage;
    this.#clock = clock;
    this.#pollMs = pollMs;
  }

  /** Whether a call waits for a state of this instance, which may last for one step. */
  isForState(instance: string): boolean {
    return [...(this.#waiters.get(instance) ?? [])].some(({ until }) => until !== "final");
  }

  /** A commit of this process is durable. */
  committed({ step, starts = [] }: Pick<Commit<unknown>, "step" | "starts">): void {
    if (this.#waiters.size === 0) return;
    for (const run of step === undefined ? starts : [step, ...starts]) {
      for (const waiter of this.#waiters.get(run.id) ?? []) waiter.see(run);
    }
  }

  /** Ends the calls that wait with `EngineStopped`. */
  stop(): void {
    this.#stopping.abort(new EngineStopped("the engine has stopped, and tells nothing any more"));
    this.#stopping = new AbortController();
  }

  async waitFor(id: string, until: WaitTarget, given?: AbortSignal): Promise<ChartSnapshot> {
    const stopping = this.#stopping.signal;
    // A signal of its own: Node warns of a leak where many listen to one.
    const signal = AbortSignal.any(given === undefined ? [stopping] : [given, stopping]);
    const waiter = new Waiter(until, this.#clock);
    const others = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, others.add(waiter));
    try {
      for (;;) {
        signal.throwIfAborted();
        // Looked at after the waiter is told of commits, so that none falls between the two.
        const record = waiter.last === null ? await this.#storage.load(id) : null;
        if (record !== null) waiter.see(record);
        const { last } = waiter;
        if (last === null) await waiter.pause.take(this.#pollMs, signal);
        else if (last.isReached || until === "final") return last.snapshot;
        else throw new StateNotReached(id, until.state, last.snapshot);
      }
    } finally {
      others.delete(waiter);
      if (others.size === 0) this.#waiters.delete(id);
    }
  }
}
