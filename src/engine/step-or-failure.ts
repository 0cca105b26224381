/** What an event makes of a chart, where an error of a child machine may be for its parent. */
import type { EventObject } from "xstate";
import type { ChartSnapshot, ChartStep } from "./chart.ts";
import type { RegisteredWorkflows } from "./registered-workflows.ts";
import { storableThrown, UnstorableValue } from "./values.ts";
import type { AnyWorkflow } from "./workflow.ts";

interface Stepping {
  readonly event: EventObject;
  readonly workflows: RegisteredWorkflows;
}

interface Stepped {
  /** As the history tells it: folded again, the same step comes of it. */
  readonly event: EventObject;
  readonly step: ChartStep | null;
}

/**
 * A child that throws ends with its error where its parent has an `onError` for it, as in XState. Any other error leaves the
 * instance as it was.
 */
export function stepOrFailure(
  workflow: AnyWorkflow,
  before: ChartSnapshot,
  { event, workflows }: Stepping,
): Stepped {
  try {
    return { event, step: workflow.chart.step(before, event) };
  } catch (error) {
    const { parent } = before;
    if (parent === undefined || error instanceof UnstorableValue) throw error;
    const above = workflows.get(parent.workflow) ?? workflows.successorOf(parent.workflow);
    if (above?.catches.has(parent.id) !== true) throw error;
    const failed = { ...event, $error: storableThrown(error) };
    return { event: failed, step: workflow.chart.step(before, failed) };
  }
}
