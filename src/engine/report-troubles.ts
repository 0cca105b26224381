/** Logs once what no process does: dead letters, and overdue tasks of workflows that this process does not have. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { Logger } from "../runtime.ts";

// More dead letters than these have one common cause; a longer log would not make it clearer.
const MAX_REPORTED = 100;
// A process that has the workflow, and is not at its limit, has done the task long before.
const OVERDUE_MS = 60_000;

/** What reporting needs. */
export interface ReportSurroundings {
  readonly storage: Pick<EngineStorage, "deadLetters" | "earliestTasks">;
  readonly log: Logger;
  /** The workflows that this process has, as `name@version`. */
  readonly workflowKeys: readonly string[];
}

/** After a restart everything is logged once more, because it is still true. */
export class TroubleReport {
  readonly #around: ReportSurroundings;
  #deadLetters: ReadonlySet<string> = new Set();
  #unknownWorkflows: ReadonlySet<string> = new Set();

  constructor(around: ReportSurroundings) {
    this.#around = around;
  }

  /** Reads the storage and logs what the call before did not see. Rejects when the storage cannot be read. */
  async update(now: number): Promise<void> {
    await this.#reportDeadLetters();
    await this.#reportUnknownWorkflows(now);
  }

  async #reportDeadLetters(): Promise<void> {
    const { storage, log } = this.#around;
    const dead = await storage.deadLetters(MAX_REPORTED);
    for (const { id, instance, workflow, name } of dead) {
      if (this.#deadLetters.has(id)) continue;
      log.error(
        { task: id, instance, workflow, name },
        "a task was set aside: its holders vanished one by one",
      );
    }
    this.#deadLetters = new Set(dead.map(({ id }) => id));
  }

  async #reportUnknownWorkflows(now: number): Promise<void> {
    const { storage, log, workflowKeys } = this.#around;
    const earliest = await storage.earliestTasks();
    const overdue = earliest.filter(
      ({ workflow, dueAt }) => dueAt < now - OVERDUE_MS && !workflowKeys.includes(workflow),
    );
    for (const { workflow, dueAt } of overdue) {
      if (this.#unknownWorkflows.has(workflow)) continue;
      log.warn(
        { workflow, overdueMs: now - dueAt },
        "tasks wait for a workflow that is not registered here: register it, or run a process that has it",
      );
    }
    this.#unknownWorkflows = new Set(overdue.map(({ workflow }) => workflow));
  }
}
