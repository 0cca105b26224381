/** Acts of viewers on instances and schedules of an engine: send an event, retry or drop a task, end the instance. */
import type { EventObject } from "xstate";
import type { EngineStorage, PendingTask } from "../../storage/storage.ts";
import type { Logger } from "../runtime.ts";
import { actOnEach, EACH_OFFERS, eachNamed } from "./each/each-acts.ts";
import type { GivenOrder } from "./each/each-commands.ts";
import { reservedIn } from "./given-events.ts";
import {
  actKey,
  ActRefused,
  type ViewerActs,
  type InspectedStorage,
  type OfferedAct,
} from "./inspected-engine.ts";
import type { InstanceCommands, StopResult } from "./instance-commands.ts";
import { actOnSchedule, scheduleNamed, scheduleOffers } from "./schedules/schedule-acts.ts";
import type { ScheduleCommands } from "./schedules/schedule-commands.ts";
import type { SendResult } from "./step-handler.ts";
import type { TaskCommands } from "./troubled-tasks.ts";
import { eventFromText } from "../workflow/values.ts";
import type { WorkflowRegistry } from "../workflow/workflow-registry.ts";

type ActsParts = Pick<TaskCommands, "retry" | "drop"> &
  Pick<InstanceCommands, "stopInstance"> & {
    readonly storage: Pick<InspectedStorage, "load" | "pending"> & Pick<EngineStorage, "get">;
    readonly schedules: ScheduleCommands;
    readonly workflows: Pick<WorkflowRegistry, "get">;
    /** `once` names the form: a form that is sent twice begins one job. */
    readonly beginEach: (order: GivenOrder, once: string | undefined) => Promise<string>;
    readonly send: (id: string, event: EventObject) => Promise<SendResult>;
    /** The log: every act writes a line, with the acting person and the reason. */
    readonly log: Logger;
  };

const MAX_TASKS = 100;

export function engineActs(parts: ActsParts): ViewerActs {
  const { storage, schedules, log } = parts;
  const offers = async (instance: string): Promise<readonly OfferedAct[]> => {
    const beside = await offersBeside(parts, instance);
    const record = await storage.load(instance);
    if (record === null) return beside;
    const { tasks } = await storage.pending(instance, MAX_TASKS);
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
      const schedule = offered.on === "schedule" ? scheduleNamed(instance) : null;
      const { actor, reason, event = "", once } = given;
      log.info({ instance, act: key, actor, reason }, "a person acts through the inspector");
      if (schedule !== null) return actOnSchedule(schedules, schedule, offered.key);
      const listed = offered.on === "list" ? eachNamed(instance) : null;
      const workflow = listed === null ? undefined : parts.workflows.get(listed.workflow);
      if (listed !== null && workflow !== undefined) {
        const begin = (order: GivenOrder): Promise<string> => parts.beginEach(order, once);
        return actOnEach({ begin, event: givenEvent }, { ...listed, workflow }, { key: offered.key, event });
      }
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

/** Acts on what is no instance: a schedule, or a list of instances whose chart is here. */
async function offersBeside(
  { storage, workflows }: Pick<ActsParts, "storage" | "workflows">,
  name: string,
): Promise<readonly OfferedAct[]> {
  const schedule = scheduleNamed(name);
  if (schedule !== null) return scheduleOffers(storage, schedule);
  const listed = eachNamed(name);
  return listed === null || workflows.get(listed.workflow) === undefined ? [] : EACH_OFFERS;
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
    const event: unknown = eventFromText(text);
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
