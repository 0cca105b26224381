/** `paystate schedules`: what is started by time on any database, and the acts on it. */
// modules: schedules
import { scheduleCommands, type ScheduleCommands } from "../engine/modules/schedules/schedule-commands.ts";
import { storedSchedules, type ScheduleView } from "../engine/modules/schedules/stored-schedules.ts";
import { isoDate } from "../inspector/show-values.ts";
import { systemClock, systemRandom } from "../core/runtime.ts";
import { EngineStore } from "../engine/kernel/engine-store.ts";
import { type Command, UsageError } from "./command.ts";
import { plainJson } from "./instances/pages.ts";
import { DATABASE_OPTIONS, withDatabase } from "./open-database.ts";
import { readArguments } from "./read-arguments.ts";
import { table } from "./table.ts";

type Act = (
  schedules: ScheduleCommands,
  id: string,
) => Promise<{ readonly done: unknown; readonly said: string }>;

const ACTS: Readonly<Record<string, Act>> = {
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
};

/** Lists schedules, or acts on one. */
export const schedules: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, DATABASE_OPTIONS);
  const [verb = "list", id, more] = positionals;
  const act = ACTS[verb];
  const isList = verb === "list";
  if (act === undefined && !isList) {
    throw new UsageError(`schedules has no "${verb}": expected list, pause, resume, remove or trigger`);
  }
  if (!isList && id === undefined) throw new UsageError(`schedules ${verb} expects the id of a schedule`);
  const spare = isList ? id : more;
  if (spare !== undefined) throw new UsageError(`schedules ${verb} takes no argument "${spare}"`);
  await withDatabase(values, async (open) => {
    const storage = new EngineStore(open.storage, [storedSchedules]);
    const commands = scheduleCommands({ storage, clock: systemClock, random: systemRandom });
    if (act === undefined || id === undefined) {
      const all = await commands.list();
      print(values.json ? plainJson(all) : page(all));
      return;
    }
    const { done, said } = await act(commands, id);
    print(values.json ? plainJson(done) : said);
  });
};

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
