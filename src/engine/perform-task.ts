/** What doing a task means: an effect runs its handler, a timer and a message become a step of their instance. */
import type { EventObject } from "xstate";
import type { ClaimedTask, CommitResult } from "../../storage/storage.ts";
import type { Hold } from "./hold.ts";
import { childDone, childFailed } from "./chart.ts";
import { delayedFromText, messageFromText, messageTask } from "./messages.ts";
import { invocationFromText, runBody, runPromise } from "./run-actor.ts";
import type { Companions, Steps } from "./steps.ts";
import { fromJson } from "./values.ts";
import type { AnyWorkflow, EffectHandler, EffectOutcome, EffectRun } from "./workflow.ts";

/** Brings one claimed task to its end. Throws when it has to be tried again later. */
export type PerformTask = (task: ClaimedTask, hold: Hold) => Promise<void>;

// An effect whose outcome another commit has overtaken looks again at once; this often in a row is no race.
const MOST_LOOKS = 3;

export function createPerformTask<W>({
  steps,
  workflows,
  now,
}: {
  readonly steps: Steps<W>;
  readonly workflows: ReadonlyMap<string, AnyWorkflow>;
  readonly now: () => number;
}): PerformTask {
  /**
   * Commits the end of the task with whatever follows from it; an event that changes nothing still ends the task.
   * Answers why the commit was refused, or null when the task has ended, be it in the hands of another holder.
   */
  const settle = async (
    { id, token, instance }: ClaimedTask,
    event: EventObject | undefined,
    companions: Omit<Companions<W>, "consumes"> = {},
  ): Promise<Refusal | null> => {
    const together = { consumes: { task: id, token }, ...companions };
    if (event !== undefined) {
      const sent = await steps.send(instance, event, together);
      if (sent.kind === "stepped") return null;
      if (sent.kind === "refused") return unlessTaken(sent.result);
    }
    const result = await steps.commit(together);
    return result.ok ? null : unlessTaken(result);
  };

  const settleOrThrow = async (...settled: Parameters<typeof settle>): Promise<void> => {
    const refused = await settle(...settled);
    if (refused !== null) throw refusalError(refused);
  };

  const runEffect = async (task: ClaimedTask, hold: Hold): Promise<void> => {
    const workflow = workflows.get(task.workflow);
    const handler = workflow?.effects.get(task.name);
    // What it brings back could not be committed, and it would be done again and again.
    await steps.checkKnown(task);
    const effectRun = runOf(task, hold);
    if (handler === undefined) {
      const body = workflow?.bodies.get(task.name);
      if (body === undefined) throw new Error(`${task.workflow} has no effect "${task.name}"`);
      const sent = await runBody(body, task, effectRun);
      const arms = sent.map((event, index) =>
        messageTask(`${task.id}:sent:${index}`, task, { event }, now()),
      );
      return settleOrThrow(task, undefined, { arms });
    }
    const run = (typeof handler === "function" ? handler : handler.run) as unknown as EffectHandler<
      unknown,
      EventObject,
      W
    >;
    const params = fromJson(JSON.parse(task.payload));
    let refused: Refusal | null = null;
    for (let look = 0; look < MOST_LOOKS; look++) {
      const outcome: EffectOutcome<EventObject, W> = (await run(params, effectRun)) ?? {};
      const { event, starts = [], writes = [] } = outcome;
      refused = await settle(task, event, { starts, writes });
      if (refused === null) return;
    }
    if (refused !== null) throw refusalError(refused);
  };

  const runInvocation = async (task: ClaimedTask, hold: Hold): Promise<void> => {
    const invocation = invocationFromText(task.payload);
    const { id, src } = invocation;
    const actor = workflows.get(task.workflow)?.actors.get(src);
    if (actor?.kind !== "promise") throw new Error(`${task.workflow} has no promise actor "${src}"`);
    await steps.checkKnown(task);
    const end = await Promise.race([
      runPromise(actor.create, invocation, runOf(task, hold)),
      // One that does not listen to its signal would keep its place for an end that no chart waits for.
      hold.untilDisarmed(),
    ]);
    if (end === undefined || hold.isDisarmed) return;
    if (end.kind === "done") return settleOrThrow(task, childDone(id, end.output));
    if (task.failures < actor.retries) throw end.error;
    // A chart that does not handle the error throws it back, and the promise is run again after a pause.
    return settleOrThrow(task, childFailed(id, end.error));
  };

  const fireTimer = async (task: ClaimedTask): Promise<void> => {
    const { to, event } = delayedFromText(task.payload);
    if (to === undefined) return settleOrThrow(task, event);
    return settleOrThrow(task, undefined, { arms: [messageTask(`${task.id}:sent`, to, { event }, now())] });
  };

  const deliverMessage = async (task: ClaimedTask): Promise<void> => {
    const { start, event, otherwise } = messageFromText(task.payload);
    const consumes = { task: task.id, token: task.token };
    if (start !== undefined) {
      const started = workflows.get(start.workflow);
      if (started === undefined) throw new Error(`${start.workflow} is not registered`);
      const request = { workflow: started, id: task.instance, input: start.input };
      // A start and an event in one message would be two steps; the engine's own actions never ask for both.
      const result = await steps.commit({ consumes, starts: [request] });
      if (result.ok || result.conflict === "token") return;
      if (result.conflict === "exists") return settleOrThrow(task, undefined);
      throw refusalError(result);
    }
    if (event === undefined) return settleOrThrow(task, undefined);
    const sent = await steps.send(task.instance, event, { consumes });
    switch (sent.kind) {
      case "stepped":
        return;
      case "refused": {
        const refused = unlessTaken(sent.result);
        if (refused !== null) throw refusalError(refused);
        return;
      }
      case "unchanged":
        return settleOrThrow(task, undefined);
      case "absent":
        // Its start may still be on the way; the message waits for it.
        throw new Error(`there is no instance ${task.instance} to tell ${task.name}`);
      case "ended": {
        if (otherwise === undefined) return settleOrThrow(task, undefined);
        const back = messageTask(`${task.id}:back`, otherwise, { event: otherwise.event }, now());
        const result = await steps.commit({ consumes, arms: [back] });
        if (!result.ok && unlessTaken(result) !== null) throw refusalError(result);
      }
    }
  };

  return (task, hold) => {
    switch (task.kind) {
      case "effect":
        return runEffect(task, hold);
      case "timer":
        return fireTimer(task);
      case "invocation":
        return runInvocation(task, hold);
      case "message":
        return deliverMessage(task);
    }
  };
}

function runOf({ id: key, instance, dueAt, crashes, failures }: ClaimedTask, hold: Hold): EffectRun {
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

type Refusal = Exclude<CommitResult, { ok: true }>;

/** When another holder has the task now, its outcome counts and nothing is left to do here. */
function unlessTaken(result: Refusal): Refusal | null {
  return result.conflict === "token" ? null : result;
}

function refusalError(result: Refusal): Error {
  return new Error(`the commit was refused: ${JSON.stringify(result)}`);
}
