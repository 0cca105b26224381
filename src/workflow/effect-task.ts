/** The task of a named action: an effect of the host, or a message where the action is the engine's `start` or `tell`. */
import type { EventObject } from "xstate";
import type { TaskRecord } from "../../storage/storage.ts";
import type { ChartAction } from "./chart.ts";
import { isLarge, type LentContext } from "./large-context.ts";
import { messageTask, type StartParams, type TellParams } from "./messages.ts";
import { limitsFor } from "./own-limit.ts";
import { limitedTask, taskOfStep, type StepContext } from "./step-context.ts";
import { eventFromJson, eventToJson, toJson } from "./values.ts";

type EffectAction = Extract<ChartAction, { readonly kind: "effect" }>;

/** Pure. Throws `UnstorableValue` when the params, the context or the event cannot be stored. */
export function effectTask(facts: StepContext, action: EffectAction, index: number): TaskRecord {
  const { workflow } = facts;
  const { name, params } = action.effect;
  const handler = workflow.effects.get(name);
  if (handler === undefined && !workflow.bodies.has(name)) {
    if (name === "start") return startMessage(facts, params as StartParams, index);
    if (name === "tell") return tellMessage(facts, params as TellParams, index);
    // Only enqueueActions names an action that registration has not seen.
    throw new TypeError(`${workflow.key}: the action "${name}" has neither a handler nor a body`);
  }
  const payload =
    handler === undefined ? scopeOf(facts, action) : toJson(params ?? null, `params of ${name}`);
  const limited = limitsFor(typeof handler === "object" ? handler.limit : undefined, params);
  return limitedTask(
    taskOfStep(facts, index),
    { kind: "effect", name, payload: JSON.stringify(payload) },
    limited,
  );
}

// No params begin so: plain ones that have this key are written by devalue.
const DONE = '{"$values":null,';

/** The payload of an effect that is done, where a step could not take its event in so far. @throws UnstorableValue */
export function doneToText(text: string, event: EventObject): string {
  return `${DONE}"params":${text},"event":${JSON.stringify(eventToJson(event))}}`;
}

/** The event of an effect that is done; null where it is still to be done. */
export function doneFromText(text: string): EventObject | null {
  if (!text.startsWith(DONE)) return null;
  return eventFromJson((JSON.parse(text) as { readonly event: unknown }).event);
}

function scopeOf(facts: StepContext, { effect: { name, params }, scope }: EffectAction): object {
  const { context } = facts.step.after;
  const lent: LentContext | null =
    scope.context === context && isLarge(context) ? { contextOf: facts.stamp } : null;
  return {
    ...(params === undefined ? {} : { params: toJson(params, `params of ${name}`) }),
    ...(lent ?? { context: toJson(scope.context, "context") }),
    event: eventToJson(scope.event),
  };
}

function startMessage(facts: StepContext, { machine, id, input }: StartParams, index: number): TaskRecord {
  const { key } = facts.workflows.named(machine);
  const start = { workflow: key, input };
  return messageTask(taskOfStep(facts, index), { instance: id, workflow: key }, { start });
}

function tellMessage(facts: StepContext, params: TellParams, index: number): TaskRecord {
  const { machine, id, event, otherwise, known, only } = params;
  // A process that does not have the chart may tell an instance that is known to be one.
  if (only !== undefined) {
    const to = { instance: id, workflow: machine, ...only };
    return messageTask(taskOfStep(facts, index), to, { known: true, event });
  }
  const sender = { instance: facts.id, workflow: facts.workflow.key, life: facts.life };
  const bounce = otherwise === undefined ? {} : { otherwise: { ...sender, event: otherwise } };
  const to = { instance: id, workflow: facts.workflows.named(machine).key };
  return messageTask(taskOfStep(facts, index), to, { event, ...bounce, ...(known && { known }) });
}
