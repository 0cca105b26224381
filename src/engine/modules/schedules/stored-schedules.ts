/** Schedules as rows, and the message that starts the instance of a moment. */
import { column, ownTable, type Row } from "../../../../storage/table.ts";
import type { EngineStorage, TaskRecord } from "../../../../storage/storage.ts";
import type { Clock, Random } from "../../../core/runtime.ts";
import { messageTask } from "../../../workflow/messages.ts";
import { newMoment } from "../../../workflow/stamps.ts";
import { fromJson } from "../../../workflow/values.ts";

/**
 * The rule for moments that passed while no process worked: `last` the last moment, `all` the last 1,000, `none` none. A
 * moment is missed when a minute has passed.
 */
export type MissedMoments = "last" | "all" | "none";

export const SCHEDULES = "paystateSchedules";

/** A row for each schedule. The table is made with the first one. */
export const storedSchedules = ownTable(SCHEDULES, {
  columns: {
    id: "text",
    // Counts the changes of the row: each commit that starts moments is refused where the row has changed since it was read.
    version: "integer",
    // The `version` of the definition.
    definition: "integer",
    // As `name@version`.
    workflow: "text",
    cron: "text",
    timezone: "text",
    missed: column<MissedMoments>("text"),
    // JSON text of `toJson`.
    input: "text",
    next: "integer?",
    last: "integer?",
    pausedAt: "integer?",
    // The row of a removed schedule stays, with the version of its definition: a deployment of before says the schedule again.
    removedAt: "integer?",
  },
  indexes: { due: { on: ["next"], present: ["next"] } },
});

export type ScheduleRow = Row<typeof storedSchedules>;

/** A schedule as it is stored; times in milliseconds since the Unix epoch. */
export interface ScheduleView {
  readonly id: string;
  /** The `version` of the definition. */
  readonly version: number;
  /** The chart and its version, as `name@version`. */
  readonly workflow: string;
  readonly cron: string;
  readonly timezone: string;
  readonly missed: MissedMoments;
  /** The input of each run, without its moment. */
  readonly input: unknown;
  /** The first moment that is not started; null while paused, and after the last one. */
  readonly next: number | null;
  /** The last moment that was started by time; null before the first. */
  readonly last: number | null;
  /** Since when it is paused; null while it is not. */
  readonly pausedAt: number | null;
  /** When it was removed; null while it is there. */
  readonly removedAt: number | null;
}

export function viewOf({ definition, input, ...row }: ScheduleRow): ScheduleView {
  return { ...row, version: definition, input: fromJson(JSON.parse(input)) };
}

/** Whether the row is of a schedule that was not removed. */
export const isThere = ({ removedAt }: Pick<ScheduleRow, "removedAt">): boolean => removedAt === null;

/** The dependencies of everything that works on schedules; the storage has their table. */
export interface ScheduleParts {
  readonly storage: Pick<EngineStorage, "find" | "commit"> & Pick<EngineStorage, "time">;
  readonly clock: Clock;
  readonly random: Random;
}

/** The time by which schedules go: the database's where it has a clock of its own, else this process's. */
export async function scheduleTime({ storage, clock }: ScheduleParts): Promise<number> {
  const now = clock.now();
  return (await storage.time?.(now)) ?? now;
}

/** The id of the instance of a moment: whole seconds of UTC, so that each moment of a schedule has one id. */
export function momentId(schedule: string, moment: number): string {
  return `${schedule}@${new Date(moment).toISOString().replace(".000Z", "Z")}`;
}

/** The id of an instance that a person starts. The id has milliseconds, which no id of a moment has. */
export function triggeredId(schedule: string, at: number): string {
  return `${schedule}@${new Date(at).toISOString()}`;
}

/** Makes messages that start an instance for a moment, where it is not there. */
export function startTasks(
  { workflow, input: text }: ScheduleRow,
  { clock, random }: Pick<ScheduleParts, "clock" | "random">,
): (instance: string, scheduledAt: number) => TaskRecord {
  const given = fromJson(JSON.parse(text)) as object | undefined;
  const { at, stamp } = newMoment(clock, random);
  return (instance, scheduledAt) => {
    // No step arms the task, so the id names no step. A moment that is asked for twice has two tasks.
    const id = `${instance} ${stamp}`;
    const start = { workflow, input: { ...given, scheduledAt } };
    return messageTask({ id, dueAt: at }, { instance, workflow }, { start });
  };
}
