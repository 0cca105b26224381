/** Whose tasks this process takes in hand: those of all its workflows, or of a few until the others may begin. */
import type { TaskRecord } from "../../storage/storage.ts";
import type { RegisteredWorkflows } from "./registered-workflows.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** Tasks of other workflows stay where they are: no claim asks the storage for them, and no commit leases one. */
export class TakenWorkflows {
  readonly #registered: Pick<RegisteredWorkflows, "claims">;
  /** Null: all of them. */
  #only: ReadonlySet<string> | null = null;

  constructor(registered: Pick<RegisteredWorkflows, "claims">) {
    this.#registered = registered;
  }

  /** From now on the tasks of these workflows alone; null for all. */
  take(only: readonly AnyWorkflow[] | null): void {
    this.#only = only === null ? null : new Set(only.flatMap(({ claims }) => claims));
  }

  /** What tasks are stored under that this process has or migrates, now or later. */
  get known(): readonly string[] {
    return this.#registered.claims;
  }

  /** What tasks are stored under that are taken. */
  get keys(): readonly string[] {
    const { claims } = this.#registered;
    const only = this.#only;
    return only === null ? claims : claims.filter((key) => only.has(key));
  }

  /** Those of these tasks that may be taken. */
  among(tasks: readonly TaskRecord[]): readonly TaskRecord[] {
    const only = this.#only;
    return only === null ? tasks : tasks.filter(({ workflow }) => only.has(workflow));
  }
}
