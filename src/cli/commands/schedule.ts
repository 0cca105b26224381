/** Commands on what is started by time. */
// modules: schedules
import type * as schedules from "../schedules.ts";
import { argument } from "../../core/takes.ts";
import { command, type CommandRow } from "../define.ts";
import { DATABASE, JSON_LINE } from "./shared.ts";

const ON_DATABASE = { ...DATABASE, ...JSON_LINE };

const load = (): Promise<typeof schedules> => import("../schedules.ts");

const ACTS = {
  pause: "Starts nothing of a schedule by time",
  resume: "Starts what a schedule says by time again",
  remove: "Removes a schedule until its definition has a higher version",
  trigger: "Starts a run of a schedule now",
} as const;

export const scheduleCommands: readonly CommandRow[] = [
  command({
    name: "schedule list",
    help: "Lists what is started by time",
    takes: ON_DATABASE,
    run: async (values, print) => (await load()).listSchedules(values, print),
  }),
  ...(["pause", "resume", "remove", "trigger"] as const).map((act) =>
    command({
      name: `schedule ${act}`,
      help: ACTS[act],
      takes: { id: argument("ID", "the id of a schedule"), ...ON_DATABASE },
      run: async ({ id, ...place }, print) => (await load()).actOnSchedule(act, id, { place, print }),
    }),
  ),
];
