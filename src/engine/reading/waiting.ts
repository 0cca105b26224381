/** Waits until an instance is in a state. A commit of this process wakes the wait; commits of other processes are read from the history. */
import type { Commit, EngineStorage, HistoryRecord, InstanceRecord } from "../../../storage/storage.ts";
import type { Clock } from "../../core/runtime.ts";
import type { ChartSnapshot } from "../../workflow/chart.ts";
import { onAbort } from "../on-abort.ts";
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

// A reason of its own for each abort would cost more than the wait.
const ANSWERED = "answered";

/** An instance after a step. Version and life are known of what was read. */
export type StoredRun = Pick<InstanceRecord, "id" | "workflow" | "status" | "snapshot" | "stamp"> &
  Partial<Pick<InstanceRecord, "version" | "life">>;

type RunVersion = Pick<InstanceRecord, "life" | "version">;

interface Wanted {
  readonly id: string;
  readonly until: WaitTarget;
  readonly signal: AbortSignal | undefined;
  /** False for an instance that is not yet what the caller means; throws for one that will never be. */
  readonly isMeant: (run: StoredRun) => boolean;
  /** Throws where an instance that is not there is waited for no longer. */
  readonly checkAbsent: () => void;
  /** The version behind which states count, where it is known before the first look. */
  readonly begun?: () => RunVersion | null;
}

class Waiter {
  readonly wanted: Wanted;
  /** Answers the call, or throws what it rejects with; null as long as it waits. */
  answer: (() => ChartSnapshot) | null = null;
  /** Aborted by the answer. */
  readonly pause = new AbortController();
  /** The result of the last look; null before the first. */
  #looked: RunVersion | null = null;

  constructor(wanted: Wanted) {
    this.wanted = wanted;
  }

  /** Takes notice of a snapshot; snapshots after the answer are ignored. */
  see(run: StoredRun): void {
    this.#notice(() => this.#answerOf(run));
  }

  /**
   * Takes notice of a look at the instance, null where there is none. Answers the version behind which there are steps
   * that led through states which no look has shown; null where there are none.
   */
  looked(record: InstanceRecord | null): number | null {
    const { begun, until } = this.wanted;
    const before = this.#looked ?? begun?.() ?? null;
    this.#looked = record ?? { life: "", version: 0 };
    if (record === null || before === null || until === "final") return null;
    const after = before.life === record.life ? before.version : 0;
    return record.version > after + 1 ? after : null;
  }

  /** Takes notice of steps between two looks. A row has no context, so the answer is the instance as it is by now. */
  seePassed(rows: readonly HistoryRecord[], record: InstanceRecord): void {
    const { until, isMeant } = this.wanted;
    if (until === "final") return;
    const wasThere = ({ stamp, version, value }: HistoryRecord): boolean =>
      isMeant({ ...record, stamp, version }) && stateMatches(JSON.parse(value), until.state);
    this.#notice(() => {
      if (!rows.some(wasThere)) return null;
      const snapshot = snapshotFromText(record.snapshot);
      return () => snapshot;
    });
  }

  #notice(answer: () => Waiter["answer"]): void {
    if (this.answer !== null) return;
    try {
      this.answer = answer();
    } catch (error) {
      this.reject(error);
    }
    if (this.answer !== null) this.pause.abort(ANSWERED);
  }

  /** Ends the wait with this error, unless it has its answer. */
  reject(error: unknown): void {
    this.answer ??= () => {
      throw error;
    };
    this.pause.abort(ANSWERED);
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

const HISTORY_PAGE = 1_000;

export class InstanceWaitList {
  readonly #storage: Pick<EngineStorage, "load" | "history">;
  readonly #clock: Clock;
  readonly #pollMs: number;
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(storage: Pick<EngineStorage, "load" | "history">, clock: Clock, pollMs: number) {
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

  /** Later waiters wait for the next `stop`. */
  stop(): void {
    const error = new EngineStopped("the engine has stopped, and tells nothing any more");
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.reject(error);
  }

  async waitFor(wanted: Wanted): Promise<ChartSnapshot> {
    const { id, signal } = wanted;
    signal?.throwIfAborted();
    const waiter = new Waiter(wanted);
    const others = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, others.add(waiter));
    const stopListening = onAbort(signal, () => waiter.reject(signal?.reason));
    try {
      for (;;) {
        // Looked at after the waiter is told of commits, so that none falls between the two.
        if (waiter.answer === null) await this.#look(waiter);
        if (waiter.answer !== null) return waiter.answer();
        await this.#clock.sleep(this.#pollMs, waiter.pause.signal);
      }
    } finally {
      stopListening();
      others.delete(waiter);
      if (others.size === 0) this.#waiters.delete(id);
    }
  }

  async #look(waiter: Waiter): Promise<void> {
    const { id, checkAbsent } = waiter.wanted;
    const record = await this.#storage.load(id);
    let after = waiter.looked(record);
    if (record === null) {
      // A commit that this process has told during the look comes first.
      if (waiter.answer === null) checkAbsent();
      return;
    }
    while (after !== null && waiter.answer === null) {
      const rows = await this.#storage.history(id, { after, limit: HISTORY_PAGE });
      waiter.seePassed(rows, record);
      after = rows.length < HISTORY_PAGE ? null : (rows.at(-1)?.version ?? null);
    }
    waiter.see(record);
  }
}
