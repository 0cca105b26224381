/** Performs a task: an effect runs its handler, and a promise runs to its end; a timer or a message becomes a step, or a timer for another actor a message. */
import type { EventObject } from "xstate";
import type { ClaimedTask } from "../../../storage/storage.ts";
import type { Writable } from "../../workflow/writable.ts";
import { BORN } from "../../workflow/chart.ts";
import { deliverMessage } from "./deliver-message.ts";
import {
  endTask,
  endTaskOrThrow,
  keepEnd,
  MAX_TRIES,
  throwRefusal,
  type Refusal,
  type TaskEnd,
  type TaskParts,
} from "./end-task.ts";
import { checkedOutcome } from "./effect-outcome.ts";
import { givenEvent } from "./given-events.ts";
import { runOf, type TaskLease } from "./task-lease.ts";
import { doneFromText, doneToText } from "../../workflow/effect-task.ts";
import { invocationFromText, type InvocationTask } from "../../workflow/invocation-task.ts";
import { delayedFromText, messageTask } from "../../workflow/messages.ts";
import { givenLimits } from "../../workflow/own-limit.ts";
import { DEFAULT_RETRY, retryPolicy, type RetryPolicy } from "../../workflow/retry.ts";
import { UnknownWorkflow, type WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import { runBody } from "./run-actor.ts";
import { runInvocation } from "./run-invocation.ts";
import { withinTask } from "./running-task.ts";
import { fromJson, UnstorableValue } from "../../workflow/values.ts";
import { commitCarrier, type OutcomeRefusal } from "../../workflow/carried.ts";
import type { EffectRun } from "../../workflow/effect-run.ts";
import type { EffectHandler, EffectOutcome } from "../../workflow/effects.ts";
import type { AnyWorkflow } from "../../workflow/workflow.ts";

/** Throws when the task must be tried again, and `TaskMovedError` when it goes on in another form. */
export async function performTask<W>(
  around: TaskParts<W>,
  task: ClaimedTask,
  lease: TaskLease,
): Promise<void> {
  try {
    await withinTask(task, () => performed(around, task, lease));
  } catch (error) {
    // The refused step is of its own instance, or of a target of its handler: then this one has not moved.
    if (error instanceof UnknownWorkflow) await around.steps.checkMoved(task);
    throw error;
  }
}

function performed<W>(around: TaskParts<W>, task: ClaimedTask, lease: TaskLease): Promise<void> {
  switch (task.kind) {
    case "effect":
      return runEffect(around, task, lease);
    case "timer":
      return fireTimer(around, task);
    case "invocation":
      return runInvocation(around, task, lease);
    case "message":
      return deliverMessage(around, task);
  }
}

type Handle<W> = EffectHandler<unknown, EventObject, W>;

async function runEffect<W>(around: TaskParts<W>, task: ClaimedTask, lease: TaskLease): Promise<void> {
  const { steps, workflows } = around;
  // Its outcome could not be committed, and the task would run again and again.
  await steps.checkKnown(task);
  lease.checkHeld();
  const event = doneFromText(task.payload);
  if (event !== null) return endTaskOrThrow(around, task, { event });
  const handler = workflowOf(workflows, task)?.effects.get(task.name);
  const run = runOf(task, lease);
  if (handler === undefined) return runOwnBody(around, task, run);
  const ended = typeof handler === "object" ? around.hooks.endedBy({ task, run, handler }) : null;
  if (ended !== null) return ended;
  const handle = (typeof handler === "object" && "run" in handler
    ? handler.run
    : handler) as unknown as Handle<W>;
  const params = fromJson(JSON.parse(task.payload));
  const limits = givenLimits(typeof handler === "object" ? handler.limit : undefined, params as never);
  let refused: Refusal | null = null;
  let outcome: Outcome<W> = {};
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if (limits.length > 0) await around.hooks.before(limits);
    lease.checkHeld();
    outcome = checkedOutcome<W>(await handle(params, run));
    refused = await endTask(around, task, endOf(outcome)).catch((error: unknown) =>
      keepEvent(around, task, { outcome, error }),
    );
    if (refused === null) return;
    const instead = insteadOf(outcome, refused);
    if (instead === undefined) continue;
    if (instead !== null) refused = await endTask(around, task, endOf(instead));
    if (refused === null) return;
    break;
  }
  throwRefusal(refused && (toldOf(outcome, refused) ?? refused));
}

type Outcome<W> = EffectOutcome<EventObject, W>;

/** If the step behind an outcome of one event fails, the outcome is kept and the handler does not run again. Throws always. */
async function keepEvent<W>(
  around: TaskParts<W>,
  task: ClaimedTask,
  { outcome, error }: { readonly outcome: Outcome<W>; readonly error: unknown },
): Promise<never> {
  const { event, ...beside } = outcome;
  if (event === undefined || Object.values(beside).some((part) => part !== undefined)) throw error;
  if (error instanceof UnstorableValue && around.steps.faultOf(event) !== null) throw error;
  return keepEnd(around, task, { payload: doneToText(task.payload, event), error });
}

function endOf<W>(outcome: Outcome<W>): TaskEnd<W> {
  const { event, starts = [], writes = [], expectedVersion } = outcome;
  const end: Writable<TaskEnd<W>> = { event, starts, writes };
  const carried = commitCarrier.ofOutcome(outcome);
  if (carried.length > 0) end.carried = carried;
  if (expectedVersion !== undefined) end.expectedVersion = expectedVersion;
  return end;
}

/** The handler's answer to a refusal of its own part: null makes it an error. Undefined without a word. */
function insteadOf<W>(outcome: Outcome<W>, refusal: Refusal): Outcome<W> | null | undefined {
  const told = toldOf(outcome, refusal);
  if (told === undefined || outcome.refused === undefined) return undefined;
  const event = outcome.refused(told);
  if (event === undefined) return null;
  return checkedOutcome<W>({ event, expectedVersion: outcome.expectedVersion });
}

/** A refusal of what the handler asked for; undefined of others. The rows and starts of the step come behind its own. */
function toldOf<W>(outcome: Outcome<W>, refusal: Refusal): OutcomeRefusal | undefined {
  const refused = commitCarrier.refused(refusal);
  if (refused !== null) {
    return (refused.place ?? 0) < commitCarrier.ofOutcome(outcome).length ? refused.told : undefined;
  }
  const start = refusal.conflict === "exists" ? outcome.starts?.[refusal.index] : undefined;
  return start && { kind: "exists", id: start.id };
}

/** The next version does effects of an ended instance, unless one is known only by its place in the old chart. */
function workflowOf(
  workflows: WorkflowRegistry,
  { workflow: key, name }: ClaimedTask,
): AnyWorkflow | undefined {
  const successor = workflows.successorOf(key);
  if (successor === undefined) return workflows.get(key);
  return name.startsWith(`${successor.machine.id}.`) && !successor.effects.has(name) ? undefined : successor;
}

/** An effect that has no handler runs the body that the chart gives its action. */
async function runOwnBody<W>(around: TaskParts<W>, task: ClaimedTask, run: EffectRun): Promise<void> {
  const { workflows, clock, storage } = around;
  const body = workflowOf(workflows, task)?.bodies.get(task.name);
  if (body === undefined) {
    await around.steps.checkRenamed(task);
    throw new Error(
      `${task.workflow} has no effect "${task.name}" any more: keep its handler until the last one is done, or let ` +
        `migrate return effects: { ${JSON.stringify(task.name)}: its new name }`,
    );
  }
  const sent = await runBody(body, task, { run, storage });
  const dueAt = clock.now();
  const arms = sent.map((event, index) =>
    messageTask({ id: `${task.id}:sent:${index}`, dueAt }, task, { event: givenEvent(event) }),
  );
  return endTaskOrThrow(around, task, { arms });
}

/** How a task that fails is tried again, as its workflow says. */
export function retryOf(workflows: WorkflowRegistry, task: ClaimedTask): RetryPolicy {
  // The work itself is done: the tries of the task bound none of the steps that take its end.
  if (task.kind === "effect" && doneFromText(task.payload) === null) {
    const effect = workflowOf(workflows, task)?.effects.get(task.name);
    return typeof effect === "object" && effect.retry !== undefined
      ? retryPolicy(effect.retry)
      : DEFAULT_RETRY;
  }
  if (task.kind !== "invocation") return DEFAULT_RETRY;
  const { src = "", end } = invocationOf(task);
  if (end !== undefined) return DEFAULT_RETRY;
  const actor = workflows.get(task.workflow)?.actors.get(src);
  return (actor?.kind === "promise" ? actor.retry : undefined) ?? DEFAULT_RETRY;
}

/** Empty if the payload cannot be read, which is why the task failed. */
function invocationOf({ payload }: ClaimedTask): Partial<InvocationTask> {
  try {
    return invocationFromText(payload);
  } catch {
    return {};
  }
}

async function fireTimer<W>(around: TaskParts<W>, task: ClaimedTask): Promise<void> {
  const { to, event } = delayedFromText(task.payload);
  if (to === undefined) return endTaskOrThrow(around, task, { event, isTimer: true });
  // It may be for a child that is still to begin.
  if (to.parentLife !== undefined) await around.steps.send(task.instance, { type: BORN });
  const message = messageTask({ id: `${task.id}:sent`, dueAt: around.clock.now() }, to, {
    known: true,
    event,
  });
  return endTaskOrThrow(around, task, { arms: [message] });
}
