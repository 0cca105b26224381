/** Waits until an instance is in a state: told of this process's commits at once, of others' by looking. */
import type { Commit, EngineStorage, InstanceRecord } from "../../../storage/storage.ts";
import type { Clock } from "../../runtime.ts";
import type { ChartSnapshot } from "../../workflow/chart.ts";
import { Pause } from "../pause.ts";
import { snapshotFromText } from "../../workflow/snapshot-text.ts";
import { stateMatches } from "../../workflow/state-matches.ts";
import type { StateName } from "./views.ts";

/** The target of a wait: the end of the instance, however it ends, or a state such as `paying` or `paying.card`. */
export type WaitTarget<M = unknown> = "final" | { readonly state: StateName<M> };

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

/** An instance after a step. Version and life are known of what was read. */
export type StoredRun = Pick<InstanceRecord, "id" | "workflow" | "status" | "snapshot" | "stamp"> &
  Partial<Pick<InstanceRecord, "version" | "life">>;

interface Wanted {
  readonly id: string;
  readonly until: WaitTarget;
  readonly signal: AbortSignal | undefined;
  /** False for an instance that is not yet what the caller means; throws for one that will never be. */
  readonly isMeant: (run: StoredRun) => boolean;
  /** Throws where an instance that is not there will never come. Default: it may be started yet. */
  readonly checkAbsent?: () => void;
}

class Waiter {
  readonly wanted: Wanted;
  /** Answers the call, or throws what it rejects with; null as long as it waits. */
  answer: (() => ChartSnapshot) | null = null;
  /** Ended by the answer. */
  readonly pause: Pause;

  constructor(wanted: Wanted, clock: Clock) {
    this.wanted = wanted;
    this.pause = new Pause(clock);
  }

  /** Takes notice of a snapshot; snapshots after the answer are ignored. */
  see(run: StoredRun): void {
    if (this.answer !== null) return;
    try {
      this.answer = this.#answerOf(run);
    } catch (error) {
      this.answer = () => {
        throw error;
      };
    }
    if (this.answer !== null) this.pause.end();
  }

  #answerOf(run: StoredRun): Waiter["answer"] {
    const { id, until, isMeant } = this.wanted;
    const hasEnded = run.status === "done";
    if (!isMeant(run) || (until === "final" && !hasEnded)) return null;
    const snapshot = snapshotFromText(run.snapshot);
    if (until === "final" || stateMatches(snapshot.value, until.state)) return () => snapshot;
    if (hasEnded) throw new StateNotReached(id, until.state, snapshot);
    return null;
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
    return [...(this.#waiters.get(instance) ?? [])].some(({ wanted }) => wanted.until !== "final");
  }

  /** A commit of this process is durable. */
  committed({ step, starts = [] }: Pick<Commit<unknown>, "step" | "starts">): void {
    if (this.#waiters.size === 0) return;
    for (const run of step === undefined ? starts : [step, ...starts]) {
      for (const waiter of this.#waiters.get(run.id) ?? []) waiter.see(run);
    }
  }

  stop(): void {
    this.#stopping.abort(new EngineStopped("the engine has stopped, and tells nothing any more"));
    this.#stopping = new AbortController();
  }

  async waitFor(wanted: Wanted): Promise<ChartSnapshot> {
    const { id, signal: given } = wanted;
    const stopping = this.#stopping.signal;
    // A signal of its own: Node warns of a leak where many listen to one.
    const signal = AbortSignal.any(given === undefined ? [stopping] : [given, stopping]);
    const waiter = new Waiter(wanted, this.#clock);
    const others = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, others.add(waiter));
    try {
      for (;;) {
        signal.throwIfAborted();
        // Looked at after the waiter is told of commits, so that none falls between the two.
        const record = waiter.answer === null ? await this.#storage.load(id) : null;
        if (record !== null) waiter.see(record);
        if (waiter.answer !== null) return waiter.answer();
        if (record === null) wanted.checkAbsent?.();
        await waiter.pause.take(this.#pollMs, signal);
      }
    } finally {
      others.delete(waiter);
      if (others.size === 0) this.#waiters.delete(id);
    }
  }
}
