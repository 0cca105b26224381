/** Logs once what no process does: dead letters, and instances and overdue tasks of workflows that this process does not have. */
import type { EngineContext } from "./engine-context.ts";
import { unknownInstances } from "./troubles.ts";

// More dead letters than these have one common cause; a longer log would not make it clearer.
const MAX_REPORTED = 100;
// A process that has the workflow, and is not at its limit, has done the task long before.
const OVERDUE_MS = 60_000;

/** After a restart everything is logged once more, because it is still true. */
export class TroubleReport {
  readonly #process: EngineContext;
  /** The workflows that this process has, as `name@version`. */
  readonly #known: () => readonly string[];
  #deadLetters: ReadonlySet<string> = new Set();
  #unknownWorkflows: ReadonlySet<string> = new Set();
  /** By unknown workflow: when its instances were first seen here. */
  #strangers: ReadonlyMap<string, number> = new Map();
  readonly #reportedStrangers = new Set<string>();

  constructor(process: EngineContext, known: () => readonly string[]) {
    this.#process = process;
    this.#known = known;
  }

  /** Reads the storage and logs what the call before did not see. Rejects when the storage cannot be read. */
  async update(now: number): Promise<void> {
    await this.#reportDeadLetters();
    await this.#reportUnknownWorkflows(now);
    await this.#reportStrangers(now);
  }

  async #reportDeadLetters(): Promise<void> {
    const { storage, log } = this.#process;
    const dead = await storage.tasks({ order: "dead", limit: MAX_REPORTED });
    for (const { id, instance, workflow, name, crashes, lastError } of dead) {
      if (this.#deadLetters.has(id)) continue;
      const fields = { task: id, instance, workflow, name };
      if (crashes > 0) log.error(fields, "a task was set aside: its holders vanished one by one");
      else log.error({ ...fields, lastError }, "a task was set aside: it failed for good");
    }
    this.#deadLetters = new Set(dead.map(({ id }) => id));
  }

  /** An instance of an unknown workflow may have no due task: it waits for an event that this process cannot deliver. */
  async #reportStrangers(now: number): Promise<void> {
    const { storage, log } = this.#process;
    const open = await unknownInstances(storage, this.#known());
    const before = this.#strangers;
    this.#strangers = new Map([...open.keys()].map((workflow) => [workflow, before.get(workflow) ?? now]));
    for (const [workflow, instances] of open) {
      // These instances may be ended, or migrated, by the process that this process replaces.
      if (now - (this.#strangers.get(workflow) ?? now) <= OVERDUE_MS) continue;
      if (this.#reportedStrangers.has(workflow) || this.#unknownWorkflows.has(workflow)) continue;
      this.#reportedStrangers.add(workflow);
      log.warn(
        { workflow, instances },
        "instances are open whose workflow is not registered here: keep a process that has it, register it, or migrate them",
      );
    }
  }

  async #reportUnknownWorkflows(now: number): Promise<void> {
    const { storage, log } = this.#process;
    const known = this.#known();
    const earliest = await storage.tasks({ order: "workflow" });
    const overdue = earliest.filter(
      ({ workflow, visibleAt }) => visibleAt < now - OVERDUE_MS && !known.includes(workflow),
    );
    for (const { workflow, visibleAt } of overdue) {
      if (this.#unknownWorkflows.has(workflow)) continue;
      log.warn(
        { workflow, overdueMs: now - visibleAt },
        "tasks wait for a workflow that is not registered here: register it, or run a process that has it",
      );
    }
    this.#unknownWorkflows = new Set(overdue.map(({ workflow }) => workflow));
  }
}
