/** Acts of viewers on instances of an engine, and on what its modules know: send an event, retry or drop a task, end the instance. */
import type { EventObject } from "xstate";
import type { PendingTask } from "../../storage/storage.ts";
import type { Logger } from "../core/runtime.ts";
import type { ModuleActs } from "./engine-module.ts";
import { reservedIn } from "./kernel/given-events.ts";
import {
  actKey,
  ActRefused,
  type ViewerActs,
  type InspectedStorage,
  type OfferedAct,
} from "./inspected-engine.ts";
import type { InstanceCommands, StopResult } from "./instance-commands.ts";
import type { SendResult } from "./kernel/step-handler.ts";
import type { TaskCommands } from "./kernel/troubled-tasks.ts";
import { typedEvent } from "../workflow/values.ts";

type ActsParts = Pick<TaskCommands, "retry" | "drop"> &
  Pick<InstanceCommands, "stopInstance"> & {
    readonly storage: Pick<InspectedStorage, "load" | "tasks">;
    readonly modules: readonly ModuleActs[];
    readonly send: (id: string, event: EventObject) => Promise<SendResult>;
    /** The log: every act writes a line, with the acting person and the reason. */
    readonly log: Logger;
  };

const MAX_TASKS = 100;

export function engineActs(parts: ActsParts): ViewerActs {
  const { storage, modules, log } = parts;
  const offers = async (instance: string): Promise<readonly OfferedAct[]> => {
    const beside = (await Promise.all(modules.map((each) => each.offers(instance)))).flat();
    const record = await storage.load(instance);
    if (record === null) return beside;
    const tasks = await storage.tasks({ order: "instance", instance, limit: MAX_TASKS });
    const repairs = tasks.flatMap(repairsOf);
    return record.status === "active" ? [...repairs, SEND, STOP_IT, ...beside] : [...repairs, ...beside];
  };
  return {
    offers,
    async perform(instance, key, given) {
      const offered = (await offers(instance)).find((each) => actKey(each) === key);
      if (offered === undefined) {
        throw new ActRefused("This can no longer be done: the instance has moved on.");
      }
      const { actor, reason, event = "" } = given;
      log.info({ instance, act: key, actor, reason }, "a person acts through the inspector");
      const ofModule = modules.find(({ on }) => on === offered.on);
      if (ofModule !== undefined) return ofModule.perform(instance, offered.key, given);
      if (key === SEND.key) return sendWords(await parts.send(instance, givenEvent(event)));
      if (key === STOP_IT.key) return stopWords(await parts.stopInstance(instance));
      const [verb, task] = partsOf(key);
      const isDone = verb === "retry" ? await parts.retry(task) : await parts.drop(task);
      if (!isDone) {
        throw new ActRefused("The task is done, in hand, or no longer failing: nothing was changed.");
      }
      return verb === "retry" ? "The task is due now." : "The task was dropped.";
    },
  };
}

const SEND: OfferedAct = {
  key: "send",
  label: "Send an event",
  consequence:
    "The event is handed to the instance. The step that it makes is stored, and its effects are carried out.",
  takesEvent: true,
};

const STOP_IT: OfferedAct = {
  key: "stop",
  label: "Stop the instance",
  consequence:
    "The instance ends as stopped: its timers, invocations, watches and children end, and it takes no event any more. This cannot be undone.",
};

export function repairsOf({ id, kind, name, failures, deadAt, isHeld }: PendingTask): OfferedAct[] {
  const retry: OfferedAct = {
    key: `retry ${id}`,
    label: `Try ${name} again`,
    consequence: `The ${kind} ${name} becomes due now, and a process at work tries it again.`,
  };
  if (deadAt === null) return failures > 0 && !isHeld ? [retry] : [];
  const drop: OfferedAct = {
    key: `drop ${id}`,
    label: `Drop ${name}`,
    consequence: `The ${kind} ${name} is removed and never done. This cannot be undone.`,
  };
  return [retry, drop];
}

export function partsOf(key: string): [verb: string, of: string] {
  const space = key.indexOf(" ");
  return space < 0 ? [key, ""] : [key.slice(0, space), key.slice(space + 1)];
}

/** An event as a person writes it: its type, or JSON. @throws ActRefused */
export function givenEvent(text: string): EventObject {
  const trimmed = text.trim();
  if (trimmed === "") throw new ActRefused("Expected an event: its type, or JSON with a type.");
  const event = trimmed.startsWith("{") ? parsed(trimmed) : { type: trimmed };
  const reason = reservedIn(event);
  if (reason !== null) throw new ActRefused(reason);
  return event;
}

function parsed(text: string): EventObject {
  try {
    const event = typedEvent(text);
    if (typeof (event as { readonly type?: unknown } | null)?.type === "string") return event as EventObject;
  } catch {
    // Said below.
  }
  throw new ActRefused('Expected JSON such as {"type":"PAY"}.');
}

function sendWords({ kind }: SendResult): string {
  if (kind === "stepped") return "The event made a step.";
  if (kind === "unchanged") return "The event changed nothing.";
  throw new ActRefused("The instance has ended, and takes no event.");
}

function stopWords(result: StopResult): string {
  if (result === "stopped") return "The instance is stopped.";
  throw new ActRefused("The instance had ended before.");
}
