/** Warns once for each workflow when its contexts or events grow long, before they are refused. */
import type { Commit } from "../../storage/storage.ts";
import type { Logger } from "../core/runtime.ts";

const LONG = 256_000;

/** A commit listener that warns about long snapshots and events. */
export function sizeWarnings(log: Logger): (committed: { readonly commit: StoredParts }) => void {
  const warnings = new SizeWarnings(log);
  return ({ commit }) => warnings.look(commit);
}

type StoredParts = Pick<Commit<unknown>, "step" | "starts" | "history">;

class SizeWarnings {
  readonly #log: Logger;
  readonly #warned = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  look({ step, starts = [], history = [] }: StoredParts): void {
    if (step !== undefined) this.#warnOf(step, step.snapshot, "context");
    for (const start of starts) this.#warnOf(start, start.snapshot, "context");
    for (const { instance, event } of history) {
      if (event.length <= LONG || event.startsWith('{"type":"$')) continue;
      const workflow =
        step?.id === instance ? step.workflow : starts.find(({ id }) => id === instance)?.workflow;
      this.#warnOf({ id: instance, workflow }, event, "event");
    }
  }

  #warnOf(
    { id: instance, workflow }: { readonly id: string; readonly workflow: string | undefined },
    text: string,
    what: "context" | "event",
  ): void {
    if (text.length <= LONG || this.#warned.has(`${workflow} ${what}`)) return;
    this.#warned.add(`${workflow} ${what}`);
    this.#log.warn(
      { workflow, instance, bytes: Buffer.byteLength(text) },
      `a long ${what} is stored with each step: keep what is long in a table; over maxValueBytes it is refused`,
    );
  }
}
