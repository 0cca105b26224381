/** The outside of a chart as a script plays it: calls wait until they are answered, notes are kept in order. */
import type { Outside } from "./chart-case.ts";

interface Call {
  readonly name: string;
  readonly key: string;
  readonly signal: AbortSignal | undefined;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
  end: { readonly value: unknown } | { readonly error: unknown } | null;
}

export class ScriptedOutside implements Outside {
  readonly notes: string[] = [];
  readonly #calls: Call[] = [];
  readonly #keyOf: () => string;

  /** `keyOf` names the call that is being made: the same for every run of one invocation. */
  constructor(keyOf: () => string) {
    this.#keyOf = keyOf;
  }

  /** Grows with everything that the chart does to the outside. */
  get activity(): number {
    return this.#calls.length + this.notes.length;
  }

  /** The names of the calls that somebody waits for. */
  get open(): readonly string[] {
    return this.#calls
      .filter(({ end, signal }) => end === null && signal?.aborted !== true)
      .map(({ name }) => name);
  }

  readonly note = (text: string): void => void this.notes.push(text);

  readonly call = (name: string, _input?: unknown, signal?: AbortSignal): Promise<never> => {
    const key = `${name} ${this.#keyOf()}`;
    const known = this.#calls.find((call) => call.key === key);
    return new Promise<never>((resolve, reject) => {
      if (known === undefined) this.#calls.push({ name, key, signal, resolve, reject, end: null });
      else {
        // Run again after a crash: the world answers as it did before.
        Object.assign(known, { resolve, reject, signal });
        deliver(known);
      }
    });
  };

  /** Ends the latest call of this name that has not ended: earlier ones have been cancelled. */
  end(name: string, end: NonNullable<Call["end"]>): void {
    const open = this.#calls.findLast((call) => call.name === name && call.end === null);
    if (open === undefined) throw new Error(`nothing waits for ${name}`);
    open.end = end;
    deliver(open);
  }
}

function deliver({ end, resolve, reject }: Call): void {
  if (end === null) return;
  if ("error" in end) reject(end.error);
  else resolve(end.value as never);
}
