/** Commands on the instances of any database file: `ps`, `show`, `history`, and commands that repair an instance. */
import type { EventObject } from "xstate";
import { RETRY, STOP } from "../../workflow/chart.ts";
import { instanceReads, type InstanceReads } from "../../engine/reading/reads.ts";
import type { InstanceQuery } from "../../engine/index.ts";
import { systemClock } from "../../core/runtime.ts";
import { DATABASE_OPTIONS, withDatabase, type DatabaseOptions, type OpenDatabase } from "../open-database.ts";
import { type Command, type Print, UsageError } from "../command.ts";
import { noArgument, oneOf, onlyArgument, readArguments, wholeNumber } from "../read-arguments.ts";
import { historyPage, instancePage, instancesPage, overdueOf, troublesOf, plainJson } from "./pages.ts";
import {
  dropTasks,
  noInstance,
  printResult,
  removeEnded,
  retryTasks,
  stopInstance,
  type CommandResult,
} from "./put-right.ts";
import type { ForMany } from "./for-many.ts";
import { eventOf, sendEvent } from "./send-event.ts";
import { tellMany } from "./tell-each.ts";
import { tellInstance } from "./tell-instance.ts";
import { deadLetters, failingTasks } from "../../engine/kernel/troubled-tasks.ts";

const STATUSES = ["active", "done", "stopped", "error", "all"] as const;
const MAX_TROUBLES = 1_000;
const LIMITS = { least: 1, most: 1_000 };
const STEPS = { least: 0, most: 999_999 };

const inDatabase = (
  place: DatabaseOptions,
  act: (open: OpenDatabase, reads: InstanceReads) => Promise<void>,
): Promise<void> => withDatabase(place, (open) => act(open, instanceReads(open.storage)));

const AN_ID = ["the id of an instance", "one id"] as const;

export const ps: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...DATABASE_OPTIONS,
    workflow: { type: "string" },
    state: { type: "string" },
    status: { type: "string" },
    failing: { type: "boolean", default: false },
    after: { type: "string" },
    limit: { type: "string", default: "100" },
    watch: { type: "boolean", default: false },
  });
  if (values.watch && values.json) throw new UsageError("ps --watch prints for people: leave out --json");
  noArgument("ps", positionals);
  const { status = values.failing ? "all" : "active", workflow, state, after } = values;
  oneOf("--status", status, STATUSES);
  const query: InstanceQuery = {
    limit: wholeNumber("--limit", values.limit, LIMITS),
    failing: values.failing,
    ...(status === "all" ? {} : { status: status as NonNullable<InstanceQuery["status"]> }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(state === undefined ? {} : { state }),
    ...(after === undefined ? {} : { after }),
  };
  await inDatabase(values, async ({ storage }, reads) => {
    const page = async (): Promise<string> => {
      const list = await reads.list(query);
      const failing = await failingTasks(storage, 1, MAX_TROUBLES);
      const troubles = troublesOf(failing, await deadLetters(storage, MAX_TROUBLES));
      const overdue = overdueOf(await storage.tasks({ order: "workflow" }), systemClock.now());
      return values.json ? plainJson(list) : instancesPage(list, troubles, overdue);
    };
    if (values.watch) await watchPage(page, print);
    print(await page());
  });
};

export const show: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...DATABASE_OPTIONS, charts: { type: "string" } });
  const id = onlyArgument("show", AN_ID, positionals);
  await inDatabase(values, async (open, reads) => {
    const instance = await reads.read(id);
    if (instance === null) throw noInstance(id, open);
    const pending = await reads.pending(id);
    if (values.json) {
      print(plainJson({ instance, pending }));
    } else {
      print(instancePage(instance, pending, await tellInstance(open.storage, id, values.charts)));
    }
  });
};

export const history: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...DATABASE_OPTIONS,
    after: { type: "string", default: "0" },
    limit: { type: "string", default: "100" },
  });
  const id = onlyArgument("history", AN_ID, positionals);
  const after = wholeNumber("--after", values.after, STEPS);
  const limit = wholeNumber("--limit", values.limit, LIMITS);
  await inDatabase(values, async (open, reads) => {
    const steps = await reads.history(id, { after, limit });
    if (steps.length === 0 && (await reads.read(id)) === null) throw noInstance(id, open);
    print(values.json ? plainJson(steps) : historyPage(id, steps, limit));
  });
};

type Act = (open: OpenDatabase, id: string) => Promise<CommandResult>;

/** A command that puts one instance right. */
function puttingRight(name: string, act: Act): Command {
  return async (args, print) => {
    const { values, positionals } = readArguments(args, DATABASE_OPTIONS);
    const id = onlyArgument(name, AN_ID, positionals);
    await withDatabase(values, async (open) => printResult(await act(open, id), values, print));
  };
}

// prettier-ignore
const WAYS: readonly ForMany[] = [
  tellMany,
];

/** True where the command was for many instances, and is done. */
const toldMany: ForMany = async (command, args, print) => {
  for (const way of WAYS) if (await way(command, args, print)) return true;
  return false;
};

/** A command on one instance, or on many that its arguments describe. */
function onOneOrMany(name: string, act: Act, event: EventObject): Command {
  return async (args, print) => {
    if (!(await toldMany({ name, event }, args, print))) await puttingRight(name, act)(args, print);
  };
}

export const send: Command = async (args, print) => {
  if (await toldMany({ name: "send", event: undefined }, args, print)) return;
  const { values, positionals } = readArguments(args, DATABASE_OPTIONS);
  const [id, event, ...more] = positionals;
  if (id === undefined || event === undefined || more.length > 0) {
    throw new UsageError("send expects ID EVENT, or --where FIELD=VALUE EVENT");
  }
  const told = eventOf(event);
  await withDatabase(values, async (open) => printResult(await sendEvent(open, id, told), values, print));
};

export const retry = onOneOrMany("retry", retryTasks, RETRY);
export const drop = puttingRight("drop", dropTasks);
export const stop = onOneOrMany("stop", stopInstance, STOP);
export const remove = puttingRight("remove", removeEnded);

const LOOK_EVERY_MS = 500;
/** Empties the screen of a terminal. */
const CLEAR = "\u001b[2J\u001b[3J\u001b[H";

/** Goes on until the process is ended. */
async function watchPage(make: () => Promise<string>, print: Print): Promise<never> {
  let shown: string | null = null;
  for (;;) {
    const page = await make();
    if (page !== shown && process.stdout.isTTY) process.stdout.write(CLEAR);
    if (page !== shown) print(page);
    shown = page;
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
