/** Performs an invocation: runs the promise to its end, and tells the instance that end. */
import type { ClaimedTask } from "../../../storage/storage.ts";
import { ChartFault } from "../../workflow/chart-fault.ts";
import { childDone, childFailed } from "../../workflow/chart.ts";
import { endedToText, invocationFromText, type PromiseEnd } from "../../workflow/invocation-task.ts";
import { givenLimits } from "../../workflow/own-limit.ts";
import { isFinal } from "../../workflow/retry.ts";
import { storableThrown, UnstorableValue } from "../../workflow/values.ts";
import { endTaskOrThrow, keepEnd, type TaskParts } from "./end-task.ts";
import { runPromise } from "./run-actor.ts";
import { runOf, type TaskLease } from "./task-lease.ts";

/** Throws when the task must be tried again. Once a step has failed to take the end of the promise in, the promise runs no more. */
export async function runInvocation<W>(
  around: TaskParts<W>,
  task: ClaimedTask,
  lease: TaskLease,
): Promise<void> {
  const { steps, workflows } = around;
  await steps.checkKnown(task);
  const invocation = invocationFromText(task.payload);
  const { id, src, input } = invocation;
  if (invocation.end !== undefined) {
    const untold = await tell(around, task, { id, end: invocation.end });
    if (untold !== null) throw untold.error;
    return;
  }
  const actor = workflows.get(task.workflow)?.actors.get(src);
  if (actor?.kind !== "promise") throw new Error(`${task.workflow} has no promise actor "${src}"`);
  const limits = givenLimits(actor.limit, input as never);
  if (limits.length > 0) await around.hooks.before(limits);
  lease.checkHeld();
  const end = await Promise.race([
    runPromise(actor.create, invocation, runOf(task, lease)),
    // A promise that ignores its signal would keep its place for an end that no chart waits for.
    lease.untilDisarmed(),
  ]);
  if (end === undefined || lease.isDisarmed) return;
  const { atMost } = actor.retry ?? { atMost: 0 };
  if (end.kind === "failed" && task.failures < atMost && !isFinal(end.error)) throw end.error;
  const untold = await tell(around, task, { id, end });
  if (untold === null) return;
  await keepEnd(around, task, { payload: endedToText(task.payload, untold.end), error: untold.error });
}

interface Untold {
  readonly end: PromiseEnd;
  /** Why the step behind it was not made. */
  readonly error: unknown;
}

/** Tells the end; resolves with it where the step failed. Throws the error of a promise that its chart does not handle. */
async function tell<W>(
  around: TaskParts<W>,
  task: ClaimedTask,
  { id, end }: { readonly id: string; readonly end: PromiseEnd },
): Promise<Untold | null> {
  const told = end.kind === "done" ? end.output : storableThrown(end.error);
  const event = end.kind === "done" ? childDone(id, told) : childFailed(id, told);
  try {
    await endTaskOrThrow(around, task, { event });
    return null;
  } catch (error) {
    if (end.kind === "failed") {
      // A chart that does not handle the error throws it back.
      if (error === told) throw end.error;
      if (error instanceof ChartFault && error.isSame(told)) throw error;
      return { end: { kind: "failed", error: told }, error };
    }
    const fault = error instanceof UnstorableValue ? around.steps.faultOf(event) : null;
    // A step that fails on a storable output is no failure of the promise: it may have paid.
    return fault === null
      ? { end, error }
      : tell(around, task, { id, end: { kind: "failed", error: fault } });
  }
}
