/** Acts of viewers on schedules: pause, resume, start a run now, remove. */
import type { ModuleActs } from "../../engine-module.ts";
import type { OfferedAct } from "../../inspected-engine.ts";
import type { EngineStorage } from "../../../../storage/storage.ts";
import type { ScheduleCommands } from "./schedule-commands.ts";
import { isThere, storedSchedules } from "./stored-schedules.ts";

const PREFIX = "schedule:";
/** The subject of the acts. */
const ON = "schedule";

/** The name under which a schedule takes acts, beside instances, which take them under their ids. */
export const scheduleName = (id: string): string => PREFIX + id;

/** The schedule of such a name; null for any other name. */
export function scheduleNamed(name: string): string | null {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null;
}

const PAUSE: OfferedAct = {
  key: "pause",
  on: ON,
  label: "Pause",
  consequence: "The schedule starts nothing by time until somebody resumes it.",
};

const RESUME: OfferedAct = {
  key: "resume",
  on: ON,
  label: "Resume",
  consequence:
    "The schedule goes on with its first moment from now on. The moments of the pause are not made up for.",
};

const TRIGGER: OfferedAct = {
  key: "trigger",
  on: ON,
  label: "Start a run",
  consequence:
    "A run is started now, beside those of the schedule's moments, by a process that has its chart.",
};

const REMOVE: OfferedAct = {
  key: "remove",
  on: ON,
  label: "Remove",
  consequence:
    "The schedule starts nothing any more and stands in no list. A program that gives it again brings it back with a higher version only.",
};

/** The acts on schedules, by the names of schedules. */
export function scheduleActs(
  storage: Pick<EngineStorage, "find">,
  commands: Pick<ScheduleCommands, "pause" | "resume" | "trigger" | "remove">,
): ModuleActs {
  return {
    on: ON,
    async offers(name) {
      const id = scheduleNamed(name);
      // A page asks for each of its schedules, and there may be 100,000.
      const [schedule = null] = id === null ? [] : await storage.find({ table: storedSchedules, key: id });
      if (schedule === null || !isThere(schedule)) return [];
      return [schedule.pausedAt === null ? PAUSE : RESUME, TRIGGER, REMOVE];
    },
    async perform(name, key) {
      const id = scheduleNamed(name) ?? name;
      if (key === TRIGGER.key) return `A process that has its chart starts ${await commands.trigger(id)}.`;
      if (key === REMOVE.key) {
        await commands.remove(id);
        return "The schedule is removed.";
      }
      const isDone = await (key === RESUME.key ? commands.resume(id) : commands.pause(id));
      if (key === RESUME.key) return isDone ? "The schedule goes on." : "It was not paused.";
      return isDone ? "The schedule is paused." : "It was paused before.";
    },
  };
}
