/** Children of a step that one commit has no room for: they begin in later commits, before the next event of their parent. */
import type { TaskRecord } from "../../storage/storage.ts";
import { BORN, childInstance, type StartedChild, type UnbornChild } from "./chart.ts";
import { together, type StepResult } from "./step-result.ts";
import { delayedToText, messageKey } from "./messages.ts";
import { taskOfStep, type StepContext } from "./step-context.ts";

/** The rest of a step with too many children: children that still have to begin, and messages sent to them. */
export function unborn({ id, before, step }: StepContext): StepResult {
  const left = (before?.unborn ?? []).map(({ told = [], ...child }) => {
    // Another instance may have had the id of the run that was planned.
    const { children, former = [] } = step.after;
    const replaced = former.find(({ id: other, run }) => other === child.id && run === child.run);
    const { run = child.run, life } = replaced ?? children?.[child.id] ?? {};
    const instance = childInstance(id, child.id, run);
    const limits = [{ key: messageKey(instance), atMost: 1 }];
    const begun: StartedChild = life === undefined ? { ...child, run } : { ...child, run, life };
    return { child: begun, told: told.map((task) => ({ ...task, instance, limits })) };
  });
  return {
    ...together([]),
    children: left.map(({ child }) => child),
    arms: left.flatMap(({ told }) => told),
  };
}

/** A message to a child that begins later is armed with the child: armed earlier, the message would find nobody. */
export function heldFor(
  later: readonly StartedChild[],
  parent: string,
  arms: readonly TaskRecord[],
): { readonly now: readonly TaskRecord[]; readonly held: readonly UnbornChild[] } {
  if (later.length === 0) return { now: arms, held: [] };
  const told = new Map<string, TaskRecord[]>(
    later.map(({ id, run }) => [childInstance(parent, id, run), []]),
  );
  const now = arms.filter((task) => told.get(task.instance)?.push(task) === undefined);
  const held = later.map((child) => {
    const messages = told.get(childInstance(parent, child.id, child.run)) ?? [];
    return messages.length === 0 ? child : { ...child, told: messages };
  });
  return { now, held };
}

export function birthTask(facts: StepContext): TaskRecord {
  return {
    kind: "timer",
    name: BORN,
    payload: delayedToText({ event: { type: BORN } }),
    limits: [],
    ...taskOfStep(facts, BORN),
  };
}
