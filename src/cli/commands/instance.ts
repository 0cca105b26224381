/** Commands on the instances of any database. */
import type * as repairs from "../instances/put-right.ts";
import { UsageError } from "../command.ts";
import { argument, flag, oneOf, text, wholeNumber } from "../../core/takes.ts";
import { command, type CommandRow } from "../define.ts";
import { DATABASE, JSON_LINE } from "./shared.ts";

const ID = { id: argument("ID", "the id of an instance") };
const ON_DATABASE = { ...DATABASE, ...JSON_LINE };
const LIMIT = wholeNumber("N", "how many", { least: 1, most: 1_000, fallback: 100 });
const NOT_OF_SERVICE = "Instances of the payment service are left to its operator.";

const load = (): Promise<typeof repairs> => import("../instances/put-right.ts");

/** A command that puts one instance right. */
function repair(
  [name, help]: readonly [name: string, help: string],
  act: (on: typeof repairs) => (typeof repairs)["retryTasks"],
): CommandRow {
  return command({
    name: `instance ${name}`,
    help,
    takes: { ...ID, ...ON_DATABASE },
    run: async ({ id, ...place }, print) => {
      const acts = await load();
      await acts.printed(place, print, (open) => act(acts)(open, id));
    },
  });
}

export const instanceCommands = [
  command({
    name: "instance list",
    help: "Lists instances: workflow, state, and what fails of them",
    takes: {
      workflow: text("NAME", "only those of a workflow"),
      state: text("STATE", "only those in a state"),
      status: oneOf(
        "STATUS",
        ["active", "done", "stopped", "error", "all"],
        "default active, with --failing all",
      ),
      failing: flag("only those with a task that fails or was set aside"),
      after: text("PLACE", "the place where the page before ended"),
      limit: LIMIT,
      watch: flag("prints the list again whenever it has changed, until Ctrl-C"),
      ...ON_DATABASE,
    },
    run: async (values, print) => {
      if (values.watch && values.json) {
        throw new UsageError("instance list --watch prints for people: leave out --json");
      }
      await (await import("../instances/look.ts")).listInstances(values, print);
    },
  }),
  command({
    name: "instance show",
    help: "Shows one instance: why it waits, its chart with the active state marked, its last steps, and all pending tasks. For a payroll it says how many are paid.",
    takes: {
      ...ID,
      charts: text("MODULE", "exports your own charts; those of payments are known"),
      ...ON_DATABASE,
    },
    run: async (values, print) => (await import("../instances/look.ts")).showInstance(values, print),
  }),
  command({
    name: "instance history",
    help: "Prints the steps of an instance, oldest first",
    takes: {
      ...ID,
      after: wholeNumber("STEP", "the last step that is known", { least: 0, most: 999_999, fallback: 0 }),
      limit: LIMIT,
      ...ON_DATABASE,
    },
    run: async (values, print) => (await import("../instances/look.ts")).showHistory(values, print),
  }),
  command({
    name: "instance send",
    help: `Hands an event to an instance, by a process that has its chart. ${NOT_OF_SERVICE}`,
    takes: { ...ID, event: argument("EVENT", "its type, or JSON with a type"), ...ON_DATABASE },
    run: async ({ id, event, ...place }, print) => {
      const { eventOf, sendEvent, printed } = await load();
      const told = eventOf(event);
      await printed(place, print, (open) => sendEvent(open, id, told));
    },
  }),
  repair(
    ["retry", "Makes what fails or was set aside of an instance due now"],
    ({ retryTasks }) => retryTasks,
  ),
  repair(
    ["drop", `Drops what was set aside of an instance, which is never done. ${NOT_OF_SERVICE}`],
    ({ dropTasks }) => dropTasks,
  ),
  repair(
    ["stop", `Ends an instance with its children, by a process that has its chart. ${NOT_OF_SERVICE}`],
    ({ stopInstance }) => stopInstance,
  ),
  repair(
    ["remove", `Removes an instance that has ended, with its history. ${NOT_OF_SERVICE}`],
    ({ removeEnded }) => removeEnded,
  ),
];
