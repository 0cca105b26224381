/** Acts of viewers on schedules: pause, resume, start a run now. */
import type { OfferedAct } from "../inspected-engine.ts";
import type { EngineStorage } from "../../../storage/storage.ts";
import type { ScheduleCommands } from "./schedule-commands.ts";
import { storedSchedules } from "./stored-schedules.ts";

const PREFIX = "schedule:";

/** The name under which a schedule takes acts, beside instances, which take them under their ids. */
export const scheduleName = (id: string): string => PREFIX + id;

/** The schedule of such a name; null for any other name. */
export function scheduleNamed(name: string): string | null {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null;
}

const PAUSE: OfferedAct = {
  key: "pause",
  on: "schedule",
  label: "Pause",
  consequence: "The schedule starts nothing by time until somebody resumes it.",
};

const RESUME: OfferedAct = {
  key: "resume",
  on: "schedule",
  label: "Resume",
  consequence:
    "The schedule goes on with its first moment from now on. The moments of the pause are not made up for.",
};

const TRIGGER: OfferedAct = {
  key: "trigger",
  on: "schedule",
  label: "Start a run",
  consequence:
    "A run is started now, beside those of the schedule's moments, by a process that has its chart.",
};

/** Acts that a schedule takes now; none where there is no such schedule. */
export async function scheduleOffers(
  storage: Pick<EngineStorage, "get">,
  id: string,
): Promise<readonly OfferedAct[]> {
  // A page asks for each of its schedules, and there may be 100,000.
  const schedule = await storage.get(storedSchedules, id);
  if (schedule === null) return [];
  return [schedule.pausedAt === null ? PAUSE : RESUME, TRIGGER];
}

/** Carries out an act that was offered, and says what came of it. */
export async function actOnSchedule(
  commands: Pick<ScheduleCommands, "pause" | "resume" | "trigger">,
  id: string,
  key: string,
): Promise<string> {
  if (key === TRIGGER.key) return `A process that has its chart starts ${await commands.trigger(id)}.`;
  if (key === RESUME.key) return (await commands.resume(id)) ? "The schedule goes on." : "It was not paused.";
  return (await commands.pause(id)) ? "The schedule is paused." : "It was paused before.";
}
