/** `paystate schedule`: what is started by time on any database, and the acts on it. */
// modules: schedules
import { scheduleCommands, type ScheduleCommands } from "../engine/modules/schedules/schedule-commands.ts";
import { storedSchedules, type ScheduleView } from "../engine/modules/schedules/stored-schedules.ts";
import { isoDate } from "../inspector/show-values.ts";
import { systemClock, systemRandom } from "../core/runtime.ts";
import { EngineStore } from "../engine/kernel/engine-store.ts";
import type { Print } from "./command.ts";
import { plainJson } from "./instances/pages.ts";
import { withDatabase, type DatabaseOptions } from "./open-database.ts";
import { table } from "../core/table.ts";

type Act = (
  schedules: ScheduleCommands,
  id: string,
) => Promise<{ readonly done: unknown; readonly said: string }>;

const ACTS = {
  async pause(schedules, id) {
    const paused = await schedules.pause(id);
    return { done: { paused }, said: paused ? `${id} is paused.` : `${id} was paused before.` };
  },
  async resume(schedules, id) {
    const resumed = await schedules.resume(id);
    return { done: { resumed }, said: resumed ? `${id} goes on.` : `${id} was not paused.` };
  },
  async remove(schedules, id) {
    await schedules.remove(id);
    return { done: { removed: true }, said: `${id} is removed.` };
  },
  async trigger(schedules, id) {
    const instance = await schedules.trigger(id);
    return { done: { instance }, said: `A process that has its workflow starts ${instance}.` };
  },
} satisfies Readonly<Record<string, Act>>;

interface Place extends DatabaseOptions {
  readonly json: boolean;
}

const withSchedules = (place: Place, use: (schedules: ScheduleCommands) => Promise<void>): Promise<void> =>
  withDatabase(place, async (open) => {
    const storage = new EngineStore(open.storage, [storedSchedules]);
    await use(scheduleCommands({ storage, clock: systemClock, random: systemRandom }));
  });

export async function listSchedules(place: Place, print: Print): Promise<void> {
  await withSchedules(place, async (schedules) => {
    const all = await schedules.list();
    print(place.json ? plainJson(all) : page(all));
  });
}

export async function actOnSchedule(
  act: keyof typeof ACTS,
  id: string,
  { place, print }: { readonly place: Place; readonly print: Print },
): Promise<void> {
  await withSchedules(place, async (schedules) => {
    const { done, said } = await ACTS[act](schedules, id);
    print(place.json ? plainJson(done) : said);
  });
}

function page(all: readonly ScheduleView[]): string {
  const rows = all.map(({ id, workflow, cron, timezone, missed, next, last, pausedAt }) => [
    ...[id, workflow, cron, timezone, missed],
    ...[last === null ? "never" : (isoDate(last) ?? ""), nextOf(next, pausedAt)],
  ]);
  return table(["id", "workflow", "cron", "timezone", "missed", "last", "next"], rows, "No schedule here.");
}

function nextOf(next: number | null, pausedAt: number | null): string {
  if (pausedAt !== null) return `paused since ${isoDate(pausedAt)}`;
  return next === null ? "never" : (isoDate(next) ?? "");
}
