/** Performs a task: an effect runs its handler; a timer or a message becomes a step of its instance. */
import type { EventObject } from "xstate";
import type { ClaimedTask } from "../../storage/storage.ts";
import { BORN, childDone, childFailed } from "../workflow/chart.ts";
import { deliverMessage } from "./deliver-message.ts";
import { endTask, endTaskOrThrow, MAX_LOOKS, throwRefusal, type Refusal, type TaskRun } from "./end-task.ts";
import { checkedOutcome } from "./effect-outcome.ts";
import { givenEvent } from "./given-events.ts";
import type { TaskLease } from "./task-lease.ts";
import { invocationFromText } from "../workflow/invocation-task.ts";
import { delayedFromText, messageTask } from "../workflow/messages.ts";
import { ratesFor } from "../workflow/own-limit.ts";
import { UnknownWorkflow, type WorkflowRegistry } from "../workflow/workflow-registry.ts";
import { runBody, runPromise } from "./run-actor.ts";
import { withinTask } from "./running-task.ts";
import { type HandlerTransaction, runTransaction } from "./run-transaction.ts";
import { fromJson } from "../workflow/values.ts";
import type { AnyWorkflow, EffectHandler, EffectOutcome, EffectRun } from "../workflow/workflow.ts";

/** Throws when the task must be tried again, and `TaskMovedError` when it belongs to another version of its chart. */
export async function performTask<W>(around: TaskRun<W>, task: ClaimedTask, hold: TaskLease): Promise<void> {
  try {
    await withinTask(task, () => performed(around, task, hold));
  } catch (error) {
    // A handler may have sent to an instance of its own choice, in this storage or another: that moves no task of this one.
    const isOwn = error instanceof UnknownWorkflow && error.instance === task.instance;
    if (isOwn) await around.steps.checkMoved(task);
    throw error;
  }
}

function performed<W>(around: TaskRun<W>, task: ClaimedTask, hold: TaskLease): Promise<void> {
  switch (task.kind) {
    case "effect":
      return runEffect(around, task, hold);
    case "timer":
      return fireTimer(around, task);
    case "invocation":
      return runInvocation(around, task, hold);
    case "message":
      return deliverMessage(around, task);
  }
}

type Handle<W> = EffectHandler<unknown, EventObject, W>;

async function runEffect<W>(around: TaskRun<W>, task: ClaimedTask, hold: TaskLease): Promise<void> {
  const { steps, workflows } = around;
  // What it brings back could not be committed, and it would be done again and again.
  await steps.checkKnown(task);
  const handler = workflowOf(workflows, task)?.effects.get(task.name);
  const run = runOf(task, hold);
  if (handler === undefined) {
    hold.checkHeld();
    return runOwnBody(around, task, run);
  }
  if (typeof handler === "object" && "transact" in handler) {
    return runTransaction(around, { task, run, handler: handler as unknown as HandlerTransaction<W> });
  }
  const handle = (typeof handler === "function" ? handler : handler.run) as unknown as Handle<W>;
  const params = fromJson(JSON.parse(task.payload));
  const rates = ratesFor(typeof handler === "object" ? handler.limit : undefined, params as never);
  let refused: Refusal | null = null;
  for (let look = 0; look < MAX_LOOKS; look++) {
    await around.rates.take(rates);
    hold.checkHeld();
    const outcome = checkedOutcome<W>(await handle(params, run));
    refused = await endTask(around, task, endOf(outcome));
    if (refused === null) return;
    const instead = insteadOf(outcome, refused);
    if (instead === undefined) continue;
    if (instead !== null) refused = await endTask(around, task, endOf(instead));
    if (refused === null) return;
    break;
  }
  throwRefusal(refused);
}

type Outcome<W> = EffectOutcome<EventObject, W>;

function endOf<W>({ event, starts = [], writes = [], queries = [], expectedVersion }: Outcome<W>) {
  const expected = expectedVersion === undefined ? {} : { expectedVersion };
  return { event, starts, writes, ...(queries.length > 0 && { queries }), ...expected };
}

/** What the handler says where the database refused a query of its own: null makes it an error. Undefined without a word. */
function insteadOf<W>(
  { queries = [], refused: told, expectedVersion }: Outcome<W>,
  refusal: Refusal,
): Outcome<W> | null | undefined {
  if (refusal.conflict !== "query" || told === undefined) return undefined;
  // Those of the step, which `project` returns, come behind its own.
  if ((refusal.refusal.query ?? 0) >= queries.length) return undefined;
  const event = told(refusal.refusal);
  if (event === undefined) return null;
  return checkedOutcome<W>({ event, expectedVersion });
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
async function runOwnBody<W>(around: TaskRun<W>, task: ClaimedTask, run: EffectRun): Promise<void> {
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

async function runInvocation<W>(around: TaskRun<W>, task: ClaimedTask, hold: TaskLease): Promise<void> {
  const { steps, workflows } = around;
  await steps.checkKnown(task);
  const invocation = invocationFromText(task.payload);
  const { id, src } = invocation;
  const actor = workflows.get(task.workflow)?.actors.get(src);
  if (actor?.kind !== "promise") throw new Error(`${task.workflow} has no promise actor "${src}"`);
  await around.rates.take(ratesFor(actor.limit, invocation.input as never));
  hold.checkHeld();
  const end = await Promise.race([
    runPromise(actor.create, invocation, runOf(task, hold)),
    // A promise that ignores its signal would keep its place for an end that no chart waits for.
    hold.untilDisarmed(),
  ]);
  if (end === undefined || hold.isDisarmed) return;
  if (end.kind === "done") return endTaskOrThrow(around, task, { event: childDone(id, end.output) });
  if (task.failures < actor.retries) throw end.error;
  // A chart that does not handle the error throws it back, and the promise is run again after a pause.
  return endTaskOrThrow(around, task, { event: childFailed(id, end.error) });
}

async function fireTimer<W>(around: TaskRun<W>, task: ClaimedTask): Promise<void> {
  const { to, event } = delayedFromText(task.payload);
  if (to === undefined) return endTaskOrThrow(around, task, { event });
  // It may be for a child that is still to begin.
  if (to.parentLife !== undefined) await around.steps.send(task.instance, { type: BORN });
  const message = messageTask({ id: `${task.id}:sent`, dueAt: around.clock.now() }, to, {
    known: true,
    event,
  });
  return endTaskOrThrow(around, task, { arms: [message] });
}

function runOf({ id: key, instance, dueAt, crashes, failures }: ClaimedTask, hold: TaskLease): EffectRun {
  return {
    key,
    instance,
    dueAt,
    get signal() {
      return hold.signal;
    },
    crashes,
    failures,
  };
}
