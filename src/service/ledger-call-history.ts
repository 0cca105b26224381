/** The last calls of the ledger by tasks of this process, for the inspector: in memory only, and only once it has asked for them. */
import { followTasks, runningTask, type RunningTask } from "../engine/kernel/running-task.ts";
import type { Clock } from "../core/runtime.ts";

/** A call, without its question and answer. Times are milliseconds since the Unix epoch. */
export interface LedgerCall {
  /** Counts the calls of this process. */
  readonly number: number;
  /** The method of the ledger's port, such as `broadcast`: it may ask several endpoints. */
  readonly method: string;
  readonly task: RunningTask;
  readonly at: number;
  /** Null while it is under way. */
  readonly durationMs: number | null;
  /** `answered`, or the name of the error; null while it is under way. */
  readonly outcome: string | null;
}

export interface LedgerCallReads {
  /** Begins to keep them; later calls change nothing. */
  begin(): void;
  /** The start of recording; null before. */
  readonly since: number | null;
  /** Calls that tasks of this instance have made, oldest first. */
  of(instance: string): readonly LedgerCall[];
}

/** The most calls kept, of all instances together. */
const MAX_CALLS = 10_000;

export class LedgerCallHistory implements LedgerCallReads {
  readonly #clock: Clock;
  /** Calls by number, oldest first. */
  readonly #calls = new Map<number, LedgerCall>();
  #since: number | null = null;
  #made = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get since(): number | null {
    return this.#since;
  }

  begin(): void {
    if (this.#since !== null) return;
    this.#since = this.#clock.now();
    followTasks();
  }

  of(instance: string): readonly LedgerCall[] {
    return [...this.#calls.values()].filter(({ task }) => task.instance === instance);
  }

  /** Follows a call of a method that a task makes. */
  follow(method: string, ask: () => unknown): unknown {
    const task = this.#since === null ? null : runningTask();
    const answer = ask();
    if (task === null) return answer;
    // Local computations call no endpoint.
    if (!(answer instanceof Promise)) return answer;
    const begun = { method, task, number: (this.#made += 1), at: this.#clock.now() };
    this.#keep({ ...begun, durationMs: null, outcome: null });
    const end = (outcome: string): void => {
      // A wall clock may be set back meanwhile.
      const durationMs = Math.max(0, this.#clock.now() - begun.at);
      if (this.#calls.has(begun.number)) this.#calls.set(begun.number, { ...begun, durationMs, outcome });
    };
    answer.then(
      () => end("answered"),
      // The message may name an endpoint, whose address may hold a key.
      (error: unknown) => end(error instanceof Error ? error.name : "failed"),
    );
    return answer;
  }

  #keep(call: LedgerCall): void {
    this.#calls.set(call.number, call);
    if (this.#calls.size <= MAX_CALLS) return;
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined) this.#calls.delete(oldest);
  }
}
