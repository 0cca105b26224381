/** Schedules: workflows that are started by the rules of cron. */
import type { AnyStateMachine } from "xstate";
import type { EngineModule } from "../../engine-module.ts";
import type { ScheduleDefinition } from "./define-schedule.ts";
import { scheduleActs } from "./schedule-acts.ts";
import type { ScheduleCommands } from "./schedule-commands.ts";
import { Schedules } from "./schedules.ts";
import { storedSchedules, type ScheduleView } from "./stored-schedules.ts";

/** The members that schedules add to an engine. */
export interface ScheduleCalls<W> {
  /**
   * Starts a workflow by the rules of cron. Any number of processes may give the same schedule: each moment starts one instance,
   * `nightly@2026-03-29T01:00:00Z`, whose input is the given one and `scheduledAt`, the moment in milliseconds since the
   * Unix epoch. Call it at each start, in a process that runs: the schedule is stored, and those that have said one start
   * what is due. Resolves with the schedule as it is stored, which is another where a later deployment has said so, and has
   * `removedAt` where it was removed.
   *
   * Rejects with `InvalidOptions` for a rule or a timezone that does not exist, and for a definition that has changed under
   * an unchanged `version`; with `UnknownWorkflow` where this engine does not have the workflow.
   *
   * @example
   * ```ts
   * import { createEngine, workflow } from "paystate/engine";
   * import { sqliteStorage } from "paystate/storage/sqlite";
   * import { virtualClock } from "paystate/testing";
   * import { setup } from "xstate";
   *
   * interface Night {
   *   readonly shop: string;
   *   readonly scheduledAt: number;
   * }
   * const chart = setup({ types: { input: {} as Night, context: {} as Night } }).createMachine({
   *   id: "report",
   *   context: ({ input }) => input,
   * });
   * const reports = workflow(chart)({ version: 1 });
   * const clock = virtualClock(Date.UTC(2026, 2, 28, 12));
   * const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [reports], clock });
   * engine.run();
   * await engine.schedule("nightly", {
   *   cron: "30 2 * * *",
   *   timezone: "Europe/Berlin",
   *   workflow: reports,
   *   input: { shop: "Mitte" },
   *   missed: "all",
   * });
   * clock.set(Date.UTC(2026, 2, 30, 12)); // the first of these nights has no half past two
   * await engine.settled();
   * const [first] = (await engine.list()).instances;
   * console.log(first?.id); // nightly@2026-03-29T01:00:00Z
   * await engine.stop();
   * ```
   */
  schedule<M extends AnyStateMachine>(
    id: string,
    definition: ScheduleDefinition<M, W>,
  ): Promise<ScheduleView>;
  /** Lists, pauses, resumes, removes, triggers and backfills the schedules of the database. */
  readonly schedules: ScheduleCommands;
}

/** Schedules as viewers see them. */
export interface ScheduleViews {
  /** Schedules by id; absent where no engine runs. */
  readonly schedules?: Pick<ScheduleCommands, "list">;
}

export const schedules: EngineModule = {
  name: "schedules",
  tables: [storedSchedules],
  async nextDue(storage) {
    const [first] = (await storage.find?.({ table: storedSchedules, index: "due", limit: 1 })) ?? [];
    return first?.next ?? null;
  },
  begin({ storage, clock, random, workflows, log }) {
    const loop = new Schedules({ storage, clock, random, workflows, log });
    const { commands } = loop;
    const define = (id: string, definition: object): Promise<ScheduleView> =>
      loop.define({ ...definition, id });
    return {
      calls: { ...storage.forHost({ schedule: define }), schedules: storage.forHost(commands) },
      views: { schedules: commands } satisfies ScheduleViews,
      acts: scheduleActs(storage, commands),
      loop,
    };
  },
};
