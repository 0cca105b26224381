/** Sends an event to one instance by command. */
import type { EventObject } from "xstate";
import { commitOne } from "../../../storage/decided.ts";
import { givenEvent } from "../../engine/engine-acts.ts";
import { ActRefused } from "../../engine/inspected-engine.ts";
import { messageTask } from "../../workflow/messages.ts";
import { newMoment } from "../../workflow/stamps.ts";
import { systemClock, systemRandom } from "../../core/runtime.ts";
import { UsageError } from "../command.ts";
import type { OpenDatabase } from "../open-database.ts";
import { checkNotOfService, noInstance, type CommandResult } from "./put-right.ts";

/** Sends an event to an instance, by a message that a process with its chart takes. */
export async function sendEvent(open: OpenDatabase, id: string, event: EventObject): Promise<CommandResult> {
  const record = await open.storage.load(id);
  if (record === null) throw noInstance(id, open);
  const { workflow, life, status } = record;
  checkNotOfService(workflow, { what: id, instead: "paystate operator attention" });
  if (status === "done") return { done: { send: "ended" }, said: `${id} has ended already.` };
  const { at: dueAt, stamp } = newMoment(systemClock, systemRandom);
  const task = messageTask(
    { id: `${id} ${stamp}`, dueAt },
    { instance: id, workflow, life },
    { known: true, event },
  );
  await commitOne(open.storage, { arms: [{ task }] });
  return {
    done: { send: "asked" },
    said: `A process that has ${workflow} hands ${event.type} to ${id}.`,
  };
}

/** An event as a person writes it: its type, or JSON. */
export function eventOf(text: string): EventObject {
  try {
    return givenEvent(text);
  } catch (error) {
    throw error instanceof ActRefused ? new UsageError(error.message) : error;
  }
}
