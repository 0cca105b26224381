/** A promise actor that a chart invokes, as a task: how it is named and stored. */
import type { TaskRecord } from "../../storage/storage.ts";
import type { ChartAction } from "./chart.ts";
import { limitsFor } from "./own-limit.ts";
import { limitedTask, taskOfStep, type StepContext } from "./step-context.ts";
import { fromJson, toJson } from "./values.ts";

export interface InvocationTask {
  /** The id of the actor within its chart. */
  readonly id: string;
  readonly src: string;
  readonly input: unknown;
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
  const { id, src, input } = JSON.parse(text) as InvocationTask;
  return { id, src, input: fromJson(input) };
}
