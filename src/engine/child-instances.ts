/** Child machines as instances of their own: the id of such an instance, and its chart. */
import type { AnyWorkflow } from "./workflow.ts";

/** `parent/id`, or `parent/id~2` for the second one that is started under this id, as when its state is entered again. */
export function childInstance(parent: string, id: string, run: number): string {
  return run === 1 ? `${parent}/${id}` : `${parent}/${id}~${run}`;
}

/** The chart of a child machine, which is registered with its parent's chart. */
export function childWorkflow(parent: AnyWorkflow, src: string | undefined): AnyWorkflow {
  const actor = src === undefined ? undefined : parent.actors.get(src);
  if (actor?.kind !== "machine") {
    throw new Error(`${parent.key} has no machine "${String(src)}" among its actors`);
  }
  return actor.workflow;
}
