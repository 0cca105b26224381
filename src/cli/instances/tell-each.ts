/** Sends events to many instances by command: it begins a durable job, and works on it until the last of them has its message. */
// modules: jobs
import type { EventObject } from "xstate";
import type { EngineStorage } from "../../../storage/storage.ts";
import { RETRY, STOP } from "../../workflow/chart.ts";
import { createEngine } from "../../engine/create-engine.ts";
import { EngineStore } from "../../engine/kernel/engine-store.ts";
import { type EachProgress, progressOf } from "../../engine/modules/jobs/each-commands.ts";
import { eachInput, eachWorkflow } from "../../engine/modules/jobs/each-workflow.ts";
import { eachChart, type EachOrder } from "../../engine/modules/jobs/each-chart.ts";
import type { InstanceView } from "../../engine/index.ts";
import type { FieldValues } from "../../workflow/instance-finder.ts";
import { declaredFields, searchRows } from "../../workflow/search-fields.ts";
import { newMoment } from "../../workflow/stamps.ts";
import { instanceWorkflows } from "../../engine/kernel/troubles.ts";
import { nameOf } from "../../workflow/workflow-key.ts";
import { silentLogger, systemClock, systemRandom } from "../../core/runtime.ts";
import { UsageError } from "../command.ts";
import type { OpenDatabase } from "../open-database.ts";
import { ProgressBar } from "../progress-bar.ts";
import { checkNotOfService, eventOf, type CommandResult } from "./put-right.ts";

const INSTEAD = "paystate operator attention";

/** The instances that a command is for, as it was called. */
interface EachCall {
  /** `FIELD=VALUE`, each. */
  readonly where: readonly string[];
  /** The name of a workflow, for all of its versions, or `name@version`. */
  readonly workflow: string | undefined;
  readonly state: string | undefined;
}

/** The event that an act hands to each. */
export function eachEvent(act: "send" | "stop" | "retry", event: string | undefined): EventObject {
  if (act === "send") return eventOf(event ?? "");
  return act === "stop" ? STOP : RETRY;
}

/** Tells all that the call is for. Interrupted, it is gone on with by any process that runs on the database. */
export async function tellEach(
  open: OpenDatabase,
  call: EachCall,
  event: EventObject,
): Promise<CommandResult> {
  const storage = new EngineStore(open.storage, [searchRows]);
  const orders = await ordersOf(storage, call, event);
  for (const { workflow } of orders) {
    checkNotOfService(workflow, { what: "each of them", instead: INSTEAD });
  }
  const jobs = eachWorkflow(storage);
  const engine = createEngine({ storage: open.storage, workflows: [], logger: silentLogger });
  const bar = new ProgressBar(process.stderr);
  engine.run();
  try {
    const done: { readonly job: string; readonly workflow: string; readonly touched: number }[] = [];
    for (const order of orders) {
      const job = `each-${newMoment(systemClock, systemRandom).stamp}`;
      await engine.start(jobs, { id: job, input: await eachInput(storage, order) });
      const { touched } = await followed(() => engine.read(job), bar);
      done.push({ job, workflow: order.workflow, touched });
    }
    bar.clear();
    return { done, said: done.map((each) => saidOf(each, event)).join("\n") };
  } finally {
    bar.clear();
    await engine.stop();
  }
}

const LOOK_EVERY_MS = 50;

async function followed(read: () => Promise<InstanceView | null>, bar: ProgressBar): Promise<EachProgress> {
  for (;;) {
    const job = await read();
    if (job === null) throw new Error("the job was removed by somebody else");
    const progress = progressOf(job);
    if (progress.done) return progress;
    const { touched, total } = progress;
    bar.show(`${job.id}: ${touched} told`, total === null || total === 0 ? 0 : touched / total);
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}

function saidOf(
  { job, workflow, touched }: { readonly job: string; readonly workflow: string; readonly touched: number },
  { type }: EventObject,
): string {
  const does =
    type === STOP.type ? "ends" : type === RETRY.type ? "retries what fails of" : `hands ${type} to`;
  return `${job}: a process that has ${workflow} ${does} ${touched} instances.`;
}

/** An order for each version that has the fields. */
async function ordersOf(
  storage: Pick<EngineStorage, "find" | "list">,
  { where: given, workflow, state }: EachCall,
  event: EventObject,
): Promise<readonly EachOrder[]> {
  const where = whereOf(given);
  const declared = await declaredFields(storage);
  const fieldsOf = (key: string): string[] =>
    declared.filter(({ field }) => field === key).map(({ value }) => value);
  // A command touches jobs only where --workflow names them.
  const isMeant = (key: string): boolean =>
    workflow === undefined ? nameOf(key) !== eachChart.id : key === workflow || nameOf(key) === workflow;
  const keys = (await instanceWorkflows(storage)).filter(isMeant);
  const fields = Object.keys(where);
  const meant = keys.filter((key) => fields.every((field) => fieldsOf(key).includes(field)));
  const names = [...new Set(meant.map(nameOf))];
  if (names.length === 1) return meant.map((key) => ({ workflow: key, where, state: state ?? null, event }));
  if (names.length > 1) {
    throw new UsageError(`--workflow NAME: expected one of ${names.join(", ")}, which all have these fields`);
  }
  const there = keys.map((key) => `${key} has ${fieldsOf(key).join(", ") || "none"}`).join("; ");
  throw new UsageError(
    keys.length === 0
      ? `there are no instances of ${workflow ?? "any workflow"}`
      : `--where ${given.join(" --where ")}: no workflow has these search fields: ${there}`,
  );
}

function whereOf(given: readonly string[]): FieldValues {
  const pairs = given.map(pairOf);
  const twice = pairs.find(([field], at) => pairs.findIndex(([each]) => each === field) < at);
  if (twice !== undefined) throw new UsageError(`--where ${twice[0]}=…: the field is given twice`);
  return Object.fromEntries(pairs);
}

function pairOf(text: string): [field: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--where ${text}: expected FIELD=VALUE, such as customer=ada`);
}
