/** The domain writes of a step, from the pure function `project` of its workflow. */
import type { Write } from "../../storage/storage.ts";
import type { PlannedEffect } from "./chart.ts";
import type { StepFacts } from "./step-facts.ts";
import type { ProjectedStep } from "./workflow.ts";

export function projectedWrites(
  facts: StepFacts,
  effects: readonly PlannedEffect[],
): readonly Write<never>[] {
  const { workflow, id, before, step, event, at } = facts;
  const { after, metaBefore, metaAfter } = step;
  const seen: ProjectedStep<never, never> = {
    id,
    before:
      before === null || metaBefore === null
        ? null
        : { value: before.value, context: before.context as never, meta: metaBefore },
    after: { value: after.value, context: after.context as never, meta: metaAfter },
    event: event as never,
    effects,
  };
  return workflow.project(seen, at);
}
