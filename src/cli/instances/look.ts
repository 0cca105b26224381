/** Shows the instances of any database: the list, one instance, and the steps of an instance. */
import type { InstanceQuery } from "../../engine/index.ts";
import { deadLetters, failingTasks } from "../../engine/kernel/troubled-tasks.ts";
import { instanceReads, type InstanceReads } from "../../engine/reading/reads.ts";
import { systemClock } from "../../core/runtime.ts";
import type { Print } from "../command.ts";
import { withDatabase, type DatabaseOptions, type OpenDatabase } from "../open-database.ts";
import { historyPage, instancePage, instancesPage, overdueOf, plainJson, troublesOf } from "./pages.ts";
import { noInstance } from "./put-right.ts";
import { tellInstance } from "./tell-instance.ts";

const MAX_TROUBLES = 1_000;

interface Looked extends DatabaseOptions {
  readonly json: boolean;
}

const inDatabase = (
  place: DatabaseOptions,
  look: (open: OpenDatabase, reads: InstanceReads) => Promise<void>,
): Promise<void> => withDatabase(place, (open) => look(open, instanceReads(open.storage)));

/** The chart whose instances are listed, and the start of the list. */
interface ListOptions extends Looked {
  readonly workflow: string | undefined;
  readonly state: string | undefined;
  readonly status: NonNullable<InstanceQuery["status"]> | "all" | undefined;
  readonly failing: boolean;
  readonly after: string | undefined;
  readonly limit: number;
  readonly watch: boolean;
}

export async function listInstances(wanted: ListOptions, print: Print): Promise<void> {
  const { workflow, state, failing, after, limit } = wanted;
  const status = wanted.status ?? (failing ? "all" : "active");
  const query: InstanceQuery = {
    limit,
    failing,
    ...(status === "all" ? {} : { status }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(state === undefined ? {} : { state }),
    ...(after === undefined ? {} : { after }),
  };
  await inDatabase(wanted, async ({ storage }, reads) => {
    const page = async (): Promise<string> => {
      const list = await reads.list(query);
      const troubled = await failingTasks(storage, 1, MAX_TROUBLES);
      const troubles = troublesOf(troubled, await deadLetters(storage, MAX_TROUBLES));
      const overdue = overdueOf(await storage.tasks({ order: "workflow" }), systemClock.now());
      return wanted.json ? plainJson(list) : instancesPage(list, troubles, overdue);
    };
    if (wanted.watch) await watchPage(page, print);
    print(await page());
  });
}

export async function showInstance(
  { id, charts, ...place }: Looked & { readonly id: string; readonly charts: string | undefined },
  print: Print,
): Promise<void> {
  await inDatabase(place, async (open, reads) => {
    const instance = await reads.read(id);
    if (instance === null) throw noInstance(id, open);
    const pending = await reads.pending(id);
    if (place.json) print(plainJson({ instance, pending }));
    else print(instancePage(instance, pending, await tellInstance(open.storage, id, charts)));
  });
}

export async function showHistory(
  { id, after, limit, ...place }: Looked & Record<"after" | "limit", number> & { readonly id: string },
  print: Print,
): Promise<void> {
  await inDatabase(place, async (open, reads) => {
    const steps = await reads.history(id, { after, limit });
    if (steps.length === 0 && (await reads.read(id)) === null) throw noInstance(id, open);
    print(place.json ? plainJson(steps) : historyPage(id, steps, limit));
  });
}

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
