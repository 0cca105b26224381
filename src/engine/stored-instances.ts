/** Acts on the instances of a database by a process that has none of their charts: one that has them does the rest. */
import type { EventObject } from "xstate";
import { commitOne } from "../../storage/decided.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import type { Clock, Random } from "../core/runtime.ts";
import { STOP } from "../workflow/chart.ts";
import { messageTask } from "../workflow/messages.ts";
import { newMoment } from "../workflow/stamps.ts";
import type { EngineModule } from "./engine-module.ts";
import { removeInstance, type RemoveResult } from "./instance-commands.ts";
import { taskCommands } from "./kernel/troubled-tasks.ts";
import { instanceReads } from "./reading/reads.ts";
import { removedRows } from "./removed-rows.ts";
import { EngineStore } from "./kernel/engine-store.ts";

interface StoredInstanceDeps {
  readonly storage: EngineStorage;
  readonly clock: Clock;
  readonly random: Random;
  /** Modules with rows that go with an instance. */
  readonly modules: readonly EngineModule[];
}

/** An act that a process with the chart carries out: `asked`, or `ended` for an instance that has ended before. */
type AskResult = "asked" | "ended" | "absent";

export class StoredInstances {
  readonly #deps: StoredInstanceDeps;

  constructor(deps: StoredInstanceDeps) {
    this.#deps = deps;
  }

  /** Makes failing tasks and dead letters due now. Answers their ids; null for an instance that is not there. */
  retry(id: string): Promise<readonly string[] | null> {
    return this.#troubled(id, (commands, task) => commands.retry(task.id));
  }

  /** Removes dead letters, and messages that fail. Answers their ids; null for an instance that is not there. */
  drop(id: string): Promise<readonly string[] | null> {
    return this.#troubled(id, async (commands, { id: task, deadAt, kind }) =>
      deadAt === null && kind !== "message" ? false : commands.drop(task),
    );
  }

  /** Asks it to end, once however often it is called: only a process with the chart knows what to disarm. */
  async stop(id: string): Promise<AskResult> {
    const { storage, clock } = this.#deps;
    const record = await storage.load(id);
    if (record === null) return "absent";
    if (record.status === "done") return "ended";
    const { tasks } = await instanceReads(storage).pending(id);
    if (tasks.some(({ kind, name }) => kind === "message" && name === STOP.type)) return "asked";
    const { workflow, life, stamp } = record;
    const asked = { id: `${id}:${stamp}:stop`, dueAt: clock.now() };
    const task = messageTask(asked, { instance: id, workflow, life }, { event: STOP });
    await commitOne(storage, { arms: [{ task }] });
    return "asked";
  }

  /** Hands it an event. */
  async send(id: string, event: EventObject): Promise<AskResult> {
    const { storage, clock, random } = this.#deps;
    const record = await storage.load(id);
    if (record === null) return "absent";
    const { workflow, life, status } = record;
    if (status === "done") return "ended";
    const { at: dueAt, stamp } = newMoment(clock, random);
    const task = messageTask(
      { id: `${id} ${stamp}`, dueAt },
      { instance: id, workflow, life },
      { known: true, event },
    );
    await commitOne(storage, { arms: [{ task }] });
    return "asked";
  }

  /** Removes an ended instance with its history. */
  remove(id: string): Promise<RemoveResult> {
    const { modules } = this.#deps;
    const tables = modules.flatMap(({ tables: own = [], removed }) => (removed === undefined ? [] : own));
    const storage = new EngineStore(this.#deps.storage, tables);
    return removeInstance({ storage, removed: removedRows(storage, modules) }, id);
  }

  /** The ids of the tasks in trouble that the command was carried out for. */
  async #troubled(
    id: string,
    command: (
      commands: ReturnType<typeof taskCommands>,
      task: Awaited<ReturnType<ReturnType<typeof instanceReads>["pending"]>>["tasks"][number],
    ) => Promise<boolean>,
  ): Promise<readonly string[] | null> {
    const { storage, clock } = this.#deps;
    const reads = instanceReads(storage);
    const { tasks, timers } = await reads.pending(id);
    const isKnown = tasks.length + timers.length > 0 || (await reads.read(id)) !== null;
    if (!isKnown) return null;
    const commands = taskCommands(storage, () => clock.now());
    const done: string[] = [];
    for (const task of [...tasks, ...timers]) {
      const isTroubled = task.deadAt !== null || task.failures > 0;
      if (isTroubled && (await command(commands, task))) done.push(task.id);
    }
    return done;
  }
}
