/** A promise actor that a chart invokes, as a task: how it is named and stored. */
import type { TaskRecord } from "../../storage/storage.ts";
import type { ChartAction } from "./chart.ts";
import { limitsFor } from "./own-limit.ts";
import { limitedTask, taskOfStep, type StepContext } from "./step-context.ts";
import { fromJson, toJson } from "./values.ts";

export type PromiseEnd =
  { readonly kind: "done"; readonly output: unknown } | { readonly kind: "failed"; readonly error: unknown };

export interface InvocationTask {
  /** The id of the actor within its chart. */
  readonly id: string;
  readonly src: string;
  readonly input: unknown;
  /** How the promise has ended, where a step could not take it in so far. */
  readonly end?: PromiseEnd;
}

export function invocationName(id: string): string {
  return `invoke.${id}`;
}

/** Pure. Throws `UnstorableValue` when the input cannot be stored. */
export function invocationTask(
  facts: StepContext,
  { id, src, input }: Extract<ChartAction, { readonly kind: "startChild" }>,
  index: number,
): TaskRecord {
  const actor = facts.workflow.actors.get(src);
  const limit = actor?.kind === "promise" ? actor.limit : undefined;
  const stored = input === undefined ? undefined : toJson(input, `input of "${id}"`);
  const payload = JSON.stringify({ id, src, input: stored });
  const limited = limitsFor(limit, input as never);
  return limitedTask(
    taskOfStep(facts, index),
    { kind: "invocation", name: invocationName(id), payload },
    limited,
  );
}

export function invocationFromText(text: string): InvocationTask {
  const { id, src, input, end } = JSON.parse(text) as InvocationTask;
  const invocation = { id, src, input: fromJson(input) };
  return end === undefined ? invocation : { ...invocation, end: fromJson(end) as PromiseEnd };
}

/** The payload of a task whose promise has ended. */
export function endedToText(text: string, end: PromiseEnd): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), end: toJson(end, "end") });
}
