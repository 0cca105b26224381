/** Puts instances right on any database: sends, retries, drops, stops and removes. */
import type { EventObject } from "xstate";
import { order } from "../../../machines/order.ts";
import { transfer } from "../../../machines/transfer.ts";
import { walletTransfer } from "../../../machines/wallet-transfer.ts";
import { webhookDelivery } from "../../../machines/webhook-delivery.ts";
import { givenEvent } from "../../engine/engine-acts.ts";
import { ActRefused } from "../../engine/inspected-engine.ts";
import { MODULES } from "../../engine/modules.ts";
import { StoredInstances } from "../../engine/stored-instances.ts";
import { nameOf } from "../../workflow/workflow-key.ts";
import { systemClock, systemRandom } from "../../core/runtime.ts";
import { type Print, UsageError } from "../command.ts";
import { withDatabase, type DatabaseOptions, type OpenDatabase } from "../open-database.ts";
import { plainJson } from "./pages.ts";

/** The result of a command, for programs and in a sentence for people. */
export interface CommandResult {
  readonly done: unknown;
  readonly said: string;
}

const MATTERS = "paystate operator attention";

const instancesOf = ({ storage }: OpenDatabase): StoredInstances =>
  new StoredInstances({ storage, clock: systemClock, random: systemRandom, modules: MODULES });

/** A process that runs the workflow takes the tasks. */
export async function retryTasks(open: OpenDatabase, id: string): Promise<CommandResult> {
  const retried = await instancesOf(open).retry(id);
  if (retried === null) throw noInstance(id, open);
  const said =
    retried.length === 0
      ? `Nothing of ${id} has failed, or it is being done right now.`
      : `Due now: ${retried.join(", ")}. A process at work does it.`;
  return { done: { retried }, said };
}

/** They are never done. */
export async function dropTasks(open: OpenDatabase, id: string): Promise<CommandResult> {
  await workflowOf(open, id, "paystate operator resolve dead_letter:TASK --action drop");
  const dropped = await instancesOf(open).drop(id);
  if (dropped === null) throw noInstance(id, open);
  const said =
    dropped.length === 0
      ? `Nothing of ${id} is set aside.`
      : `Never done now: ${dropped.join(", ")}. The instance waits for another event, or until it is stopped.`;
  return { done: { dropped }, said };
}

/** Only a process with the chart knows what to disarm. */
export async function stopInstance(open: OpenDatabase, id: string): Promise<CommandResult> {
  const workflow = await workflowOf(open, id, MATTERS);
  const stop = await instancesOf(open).stop(id);
  if (stop === "absent") throw noInstance(id, open);
  if (stop === "ended") return { done: { stop }, said: `${id} has ended already.` };
  return { done: { stop }, said: `A process that has ${workflow} ends ${id} and its children.` };
}

export async function sendEvent(open: OpenDatabase, id: string, event: EventObject): Promise<CommandResult> {
  const workflow = await workflowOf(open, id, MATTERS);
  const send = await instancesOf(open).send(id, event);
  if (send === "absent") throw noInstance(id, open);
  if (send === "ended") return { done: { send }, said: `${id} has ended already.` };
  return { done: { send }, said: `A process that has ${workflow} hands ${event.type} to ${id}.` };
}

/** With its history. */
export async function removeEnded(open: OpenDatabase, id: string): Promise<CommandResult> {
  await workflowOf(open, id, MATTERS);
  const done = await instancesOf(open).remove(id);
  if (done === "absent") throw noInstance(id, open);
  if (done === "active") throw new Error(`${id} has not ended: stop it first`);
  if (done === "pending") {
    throw new Error(`something of ${id} is still to be done: \`paystate instance show ${id}\` lists it`);
  }
  return { done: { removed: id }, said: `${id} and its history are removed.` };
}

/** An event as a person writes it: its type, or JSON. */
export function eventOf(text: string): EventObject {
  try {
    return givenEvent(text);
  } catch (error) {
    throw error instanceof ActRefused ? new UsageError(error.message) : error;
  }
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

const OF_SERVICE: ReadonlySet<string> = new Set(
  [walletTransfer, order, transfer, webhookDelivery].map(({ id }) => id),
);

/**
 * The workflow of an instance, empty for one that is not there. Behind a chart of the payment service there is money, which
 * would stay where it is; its operator leaves a trace.
 */
async function workflowOf({ storage }: OpenDatabase, id: string, instead: string): Promise<string> {
  const { workflow } = (await storage.load(id)) ?? { workflow: "" };
  checkNotOfService(workflow, { what: id, instead });
  return workflow;
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
