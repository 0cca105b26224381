/** Delivers a message: it becomes the first or the next step of its target, in the commit that ends its task. */
import type { ClaimedTask } from "../../../storage/storage.ts";
import { BORN, childInstance, RETRY } from "../../workflow/chart.ts";
import {
  consumptionOf,
  endTaskOrThrow,
  MAX_TRIES,
  throwRefusal,
  unlessTaken,
  type TaskParts,
} from "./end-task.ts";
import {
  isMeant,
  messageFromText,
  messageTask,
  type Message,
  type MessageTarget,
} from "../../workflow/messages.ts";
import { isTroubled } from "./troubled-tasks.ts";
import { snapshotFromText } from "../../workflow/snapshot-text.ts";
import { nameOf, versionOf } from "../../workflow/workflow-key.ts";

/** Throws when the message has to be delivered again later: its target is not there yet, or the commit was refused. */
export async function deliverMessage<W>(around: TaskParts<W>, task: ClaimedTask): Promise<void> {
  const { known = false, start, event, otherwise, ...meant } = messageFromText(task.payload);
  // A start and an event in one message would be two steps; the engine's own actions never ask for both.
  if (start !== undefined) return startTarget(around, task, start);
  if (event === undefined) return endTaskOrThrow(around, task, {});
  if (event.type === RETRY.type) return retryTasks(around, task, meant);
  const isMessage = true as const;
  const companions = Object.assign(consumptionOf<W>(task), { meant, isMessage });
  const sent = await around.steps.send(task.instance, event, companions);
  if (sent.kind === "stepped") return;
  if (sent.kind === "refused") {
    throwRefusal(unlessTaken(sent.result));
    return;
  }
  // Its start may still be on the way; the message waits for it.
  if (sent.kind === "absent" && !known) {
    const { machine } = meant;
    const wanted = machine === undefined ? task.instance : `${task.instance} of ${machine}`;
    throw new Error(`there is no instance ${wanted} to tell ${task.name}`);
  }
  const isDropped = sent.kind !== "unchanged" && meant.isAddress === true;
  const isUnborn = sent.kind === "absent" && isDropped && (await begins(around, task));
  if (isUnborn) return deliverMessage(around, task);
  if (sent.kind === "unchanged" || otherwise === undefined) {
    await endTaskOrThrow(around, task, {});
    if (isDropped) tellDropped(around, task);
    return;
  }
  const id = `${task.id}:back`;
  const back = messageTask({ id, dueAt: around.clock.now() }, otherwise, {
    known: true,
    event: otherwise.event,
  });
  return endTaskOrThrow(around, task, { arms: [back] });
}

/** Begins the target where its parent handed out the address in a commit that had no room for it. False where none does. */
async function begins<W>({ storage, steps }: TaskParts<W>, { instance }: ClaimedTask): Promise<boolean> {
  // The id of a child may hold a slash, too.
  for (let at = instance.lastIndexOf("/"); at > 0; at = instance.lastIndexOf("/", at - 1)) {
    const parent = instance.slice(0, at);
    const above = await storage.load(parent);
    const { unborn = [] } = above === null ? {} : snapshotFromText(above.snapshot);
    if (!unborn.some(({ id, run }) => childInstance(parent, id, run) === instance)) continue;
    return (await steps.send(parent, { type: BORN })).kind === "unchanged";
  }
  return false;
}

/** The log alone tells that the actor of an address is gone: its sender waits for no answer. */
function tellDropped<W>({ log }: TaskParts<W>, { id: task, instance, name: event }: ClaimedTask): void {
  log.warn(
    { task, instance, event },
    "an event was dropped: the actor that it was sent to is not there any more",
  );
}

async function startTarget<W>(
  around: TaskParts<W>,
  task: ClaimedTask,
  { workflow: key, input }: NonNullable<Message["start"]>,
): Promise<void> {
  const { steps, workflows } = around;
  const workflow = workflows.named(nameOf(key));
  if (workflow.version < versionOf(key)) {
    throw new Error(
      `${task.instance} is to be started under ${key} or later, and this process has ${workflow.key}`,
    );
  }
  const starts = [{ workflow, id: task.instance, input }];
  const result = await steps.commit(Object.assign(consumptionOf<W>(task), { starts }));
  if (result.ok) return;
  // The instance is there already, as the sender wants it.
  if (result.conflict === "exists") return endTaskOrThrow(around, task, {});
  throwRefusal(unlessTaken(result));
}

const MAX_TASKS = 1_000;

/**
 * Retries failing tasks and dead letters of the target, in the commit that ends the message. Another process may take one up
 * between the read and the commit.
 */
async function retryTasks<W>(around: TaskParts<W>, task: ClaimedTask, meant: MessageTarget): Promise<void> {
  const { storage, steps, clock } = around;
  for (let tried = 1; ; tried++) {
    const record = await storage.load(task.instance);
    const isThere = record !== null && isMeant(meant, record, snapshotFromText(record.snapshot));
    const tasks = isThere
      ? await storage.tasks({ order: "instance", instance: task.instance, limit: MAX_TASKS })
      : [];
    const dueAt = clock.now();
    const retries = tasks.filter(isTroubled).map(({ id }) => ({ task: id, dueAt, delayMs: 0 }));
    const result = await steps.commit({ ...consumptionOf<W>(task), retries });
    if (result.ok) return;
    if (tried === MAX_TRIES) throwRefusal(result);
  }
}
