/** Puts instances right on any database: retries, drops, stops and removes. */
import { commitOne } from "../../../storage/decided.ts";
import type { AnyTable } from "../../../storage/table.ts";
import { order } from "../../../machines/order.ts";
import { transfer } from "../../../machines/transfer.ts";
import { walletTransfer } from "../../../machines/wallet-transfer.ts";
import { webhookDelivery } from "../../../machines/webhook-delivery.ts";
import { STOP } from "../../workflow/chart.ts";
import { instanceReads } from "../../engine/reading/reads.ts";
import { removeInstance } from "../../engine/instance-commands.ts";
import { MODULES } from "../../engine/modules.ts";
import { removedRows } from "../../engine/removed-rows.ts";
import type { PendingTask } from "../../../storage/storage.ts";
import { messageTask } from "../../workflow/messages.ts";
import { taskCommands, type TaskCommands } from "../../engine/kernel/troubled-tasks.ts";
import { nameOf } from "../../workflow/workflow-key.ts";
import { systemClock } from "../../core/runtime.ts";
import { EngineStore } from "../../engine/kernel/engine-store.ts";
import type { Print } from "../command.ts";
import { withDatabase, type DatabaseOptions, type OpenDatabase } from "../open-database.ts";
import { plainJson } from "./pages.ts";

/** The result of a command, for programs and in a sentence for people. */
export interface CommandResult {
  readonly done: unknown;
  readonly said: string;
}

/**
 * Makes the failing tasks and the dead letters of an instance due now; a process that runs the workflow takes the
 * tasks.
 */
export async function retryTasks(open: OpenDatabase, id: string): Promise<CommandResult> {
  const retried = await troubled(open, id, (commands, { id: task }) => commands.retry(task));
  const said =
    retried.length === 0
      ? `Nothing of ${id} has failed, or it is being done right now.`
      : `Due now: ${retried.join(", ")}. A process at work does it.`;
  return { done: { retried }, said };
}

/** Removes the dead letters of an instance: they are never done. */
export async function dropTasks(open: OpenDatabase, id: string): Promise<CommandResult> {
  await checkInstanceNotOfService(open, id, "paystate operator resolve dead_letter:TASK --action drop");
  const dropped = await troubled(open, id, async (commands, { id: task, deadAt, kind }) =>
    deadAt === null && kind !== "message" ? false : commands.drop(task),
  );
  const said =
    dropped.length === 0
      ? `Nothing of ${id} is set aside.`
      : `Never done now: ${dropped.join(", ")}. The instance waits for another event, or until it is stopped.`;
  return { done: { dropped }, said };
}

/** Asks an instance to end, by a message that a process with its chart takes: only that one knows what to disarm. */
export async function stopInstance(open: OpenDatabase, id: string): Promise<CommandResult> {
  const record = await open.storage.load(id);
  if (record === null) throw noInstance(id, open);
  await checkInstanceNotOfService(open, id, "paystate operator attention");
  if (record.status === "done") return { done: { stop: "ended" }, said: `${id} has ended already.` };
  const { tasks } = await instanceReads(open.storage).pending(id);
  const isAsked = tasks.some(({ kind, name }) => kind === "message" && name === STOP.type);
  if (!isAsked) {
    const asked = { id: `${id}:${record.stamp}:stop`, dueAt: systemClock.now() };
    const task = messageTask(
      asked,
      { instance: id, workflow: record.workflow, life: record.life },
      { event: STOP },
    );
    await commitOne(open.storage, { arms: [{ task }] });
  }
  return {
    done: { stop: "asked" },
    said: `A process that has ${record.workflow} ends ${id} and its children.`,
  };
}

/** The tables that may have rows of an instance. */
const tablesToEmpty = (): readonly AnyTable[] =>
  MODULES.flatMap(({ tables = [], removed }) => (removed === undefined ? [] : tables));

/** Removes an instance that has ended, with its history. */
export async function removeEnded(open: OpenDatabase, id: string): Promise<CommandResult> {
  await checkInstanceNotOfService(open, id, "paystate operator attention");
  const storage = new EngineStore(open.storage, tablesToEmpty());
  const done = await removeInstance({ storage, removed: removedRows(storage, MODULES) }, id);
  if (done === "absent") throw noInstance(id, open);
  if (done === "active") throw new Error(`${id} has not ended: stop it first`);
  if (done === "pending") {
    throw new Error(`something of ${id} is still to be done: \`paystate instance show ${id}\` lists it`);
  }
  return { done: { removed: id }, said: `${id} and its history are removed.` };
}

/** Acts on the database, and prints the result for a person, or for a program. */
export async function printed(
  place: DatabaseOptions & { readonly json: boolean },
  print: Print,
  act: (open: OpenDatabase) => Promise<CommandResult>,
): Promise<void> {
  await withDatabase(place, async (open) => {
    const { done, said } = await act(open);
    print(place.json ? plainJson(done) : said);
  });
}

/** An instance that is not there. */
export function noInstance(id: string, { file }: OpenDatabase): Error {
  return new Error(
    `there is no instance ${id} in ${file}: \`paystate instance list --status all\` lists them`,
  );
}

/** The ids of the tasks in trouble that the command was carried out for. */
async function troubled(
  open: OpenDatabase,
  id: string,
  command: (commands: TaskCommands, task: PendingTask) => Promise<boolean>,
): Promise<readonly string[]> {
  const reads = instanceReads(open.storage);
  const { tasks, timers } = await reads.pending(id);
  const isKnown = tasks.length + timers.length > 0 || (await reads.read(id)) !== null;
  if (!isKnown) throw noInstance(id, open);
  const commands = taskCommands(open.storage, () => systemClock.now());
  const done: string[] = [];
  for (const task of [...tasks, ...timers]) {
    const isTroubled = task.deadAt !== null || task.failures > 0;
    if (isTroubled && (await command(commands, task))) done.push(task.id);
  }
  return done;
}

const OF_SERVICE: ReadonlySet<string> = new Set(
  [walletTransfer, order, transfer, webhookDelivery].map(({ id }) => id),
);

/** Behind a chart of the payment service there is money, which would stay where it is; its operator leaves a trace. */
async function checkInstanceNotOfService(open: OpenDatabase, id: string, instead: string): Promise<void> {
  const record = await open.storage.load(id);
  if (record !== null) checkNotOfService(record.workflow, { what: id, instead });
}

/** Says `instead` what to use for `what`, where the workflow is one of the service. */
export function checkNotOfService(
  workflow: string,
  { what, instead }: { readonly what: string; readonly instead: string },
): void {
  const name = nameOf(workflow);
  if (!OF_SERVICE.has(name)) return;
  throw new Error(`${what} is a ${name} of the payment service, with money behind it: use \`${instead}\``);
}
