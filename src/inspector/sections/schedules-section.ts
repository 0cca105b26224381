/** The page of schedules. */
// modules: schedules
import { scheduleName, scheduleNamed } from "../../engine/modules/schedules/schedule-acts.ts";
import { absent, present } from "../found-page.ts";
import { offersOn, type InspectorSection } from "../section.ts";
import { schedulesPage } from "./schedules-page.ts";

const MAX_SCHEDULES = 100;

export const schedulesSection: InspectorSection = {
  path: "schedules",
  title: "Schedules",
  isThere: ({ schedules }) => schedules !== undefined,
  addressOf: async (links, name) => (scheduleNamed(name) === null ? null : links.file("schedules")),
  async find(links, { schedules, acting }) {
    if (schedules === undefined) return absent(links, "Schedules are shown where their engine runs.");
    const all = await schedules.list();
    const listed = await Promise.all(
      all.slice(0, MAX_SCHEDULES).map(async (schedule) => ({
        schedule,
        acts: await offersOn(acting, scheduleName(schedule.id), "schedule"),
      })),
    );
    return present(schedulesPage(links, listed, all.length === listed.length));
  },
};
