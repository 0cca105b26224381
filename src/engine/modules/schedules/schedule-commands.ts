/** Lists, pauses, resumes, removes, triggers and backfills schedules: on any database, without a chart. */
import { commitOne } from "../../../../storage/decided.ts";
import { isTurnOver, nextTurn } from "../../../core/runtime.ts";
import { checkText } from "../../../workflow/instance-id.ts";
import { Moments } from "./moments.ts";
import {
  isThere,
  momentId,
  SCHEDULES,
  scheduleTime,
  startTasks,
  storedSchedules,
  triggeredId,
  viewOf,
  type ScheduleParts,
  type ScheduleRow,
  type ScheduleView,
} from "./stored-schedules.ts";

/** Commands about schedules. All but `list` reject for an id that no schedule has. */
export interface ScheduleCommands {
  /** All schedules of the database, by id. */
  list(): Promise<readonly ScheduleView[]>;
  /** Starts nothing by time until `resume`. False when it was paused before. */
  pause(id: string): Promise<boolean>;
  /** Goes on with the first moment from now on: those of the pause are not missed. False when it was not paused. */
  resume(id: string): Promise<boolean>;
  /**
   * Starts a run now, paused or not, and returns the id of its instance, such as `nightly@2026-03-29T12:34:56.789Z`. Two calls
   * within one millisecond name one run.
   */
  trigger(id: string): Promise<string>;
  /**
   * Removes a schedule: it starts nothing any more, and is in no list. A deployment that says it again, at its next start, does
   * not bring it back, unless its definition has a higher `version`. Starts that were ordered before still happen.
   */
  remove(id: string): Promise<void>;
  /**
   * Starts a run for each moment from `from` on and before `to`, in milliseconds since the Unix epoch, if its instance is not
   * there. Returns the ids of all these moments.
   *
   * Rejects with a RangeError, and starts nothing, for a `to` that is still to come and for more than 1,000 moments.
   */
  backfill(id: string, from: number, to: number): Promise<readonly string[]>;
}

const MAX_BACKFILLED = 1_000;
const STARTS_AT_ONCE = 100;

/** `onChanged` is called when the moment that is next may be another. */
export function scheduleCommands(parts: ScheduleParts, onChanged = (): void => {}): ScheduleCommands {
  const { storage } = parts;
  /** Changes the row, from its present version on, unless `change` gives null. */
  const changing = async (
    id: string,
    change: (row: ScheduleRow) => Promise<Partial<ScheduleRow> | null>,
  ): Promise<boolean> => {
    for (;;) {
      const row = await found(parts, id);
      const set = await change(row);
      if (set === null) return false;
      const write = { table: SCHEDULES, id, set, expectedVersion: row.version };
      if (!(await commitOne(storage, { writes: [write] })).ok) continue;
      onChanged();
      return true;
    }
  };
  return {
    async list() {
      const rows = await storage.find<ScheduleRow>({ table: storedSchedules, index: "key" });
      return rows.filter(isThere).map(viewOf);
    },
    pause: (id) =>
      changing(id, async ({ pausedAt }) =>
        pausedAt === null ? { pausedAt: await scheduleTime(parts), next: null } : null,
      ),
    resume: (id) =>
      changing(id, async (row) => {
        if (row.pausedAt === null) return null;
        return { pausedAt: null, next: new Moments(row).after(await scheduleTime(parts)) };
      }),
    async remove(id) {
      await changing(id, async () => ({ removedAt: await scheduleTime(parts), next: null, pausedAt: null }));
    },
    async trigger(id) {
      const row = await found(parts, id);
      const now = await scheduleTime(parts);
      const instance = triggeredId(id, now);
      await commitOne(storage, { arms: [{ task: startTasks(row, parts)(instance, now) }] });
      return instance;
    },
    backfill: (id, from, to) => backfill(parts, id, { from, to }),
  };
}

async function backfill(
  parts: ScheduleParts,
  id: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly string[]> {
  const row = await found(parts, id);
  for (const [name, time] of Object.entries({ from, to })) {
    if (!Number.isSafeInteger(time)) {
      throw new RangeError(
        `${name}: expected milliseconds since the Unix epoch, such as Date.parse("2026-03-01")`,
      );
    }
  }
  if (to > (await scheduleTime(parts))) throw new RangeError("to: expected a time that has come");
  const moments = new Moments(row);
  const wanted: number[] = [];
  for (let at = moments.after(from - 1); at !== null && at < to; at = moments.after(at)) {
    if (wanted.length === MAX_BACKFILLED) {
      throw new RangeError(
        `to: more than ${MAX_BACKFILLED} moments lie between; the next backfill begins with ${new Date(at).toISOString()}`,
      );
    }
    wanted.push(at);
    if (isTurnOver()) await nextTurn();
  }
  for (let done = 0; done < wanted.length; done += STARTS_AT_ONCE) {
    const startTask = startTasks(row, parts);
    const some = wanted.slice(done, done + STARTS_AT_ONCE);
    const arms = some.map((at) => ({ task: startTask(momentId(id, at), at) }));
    await commitOne(parts.storage, { arms });
  }
  return wanted.map((at) => momentId(id, at));
}

async function found({ storage }: ScheduleParts, id: string): Promise<ScheduleRow> {
  checkText(id);
  const [row] = await storage.find<ScheduleRow>({ table: storedSchedules, key: id });
  if (row === undefined || !isThere(row)) throw new Error(`there is no schedule ${JSON.stringify(id)}`);
  return row;
}
