/** What doing a task means: an effect runs its handler, a timer and a message become a step of their instance. */
import type { EventObject } from "xstate";
import type { ClaimedTask, CommitResult } from "../../storage/storage.ts";
import type { Hold } from "./hold.ts";
import { messageTask } from "./plan-step.ts";
import type { Message } from "./plan-step.ts";
import type { Companions, Steps } from "./steps.ts";
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
    const handler = workflows.get(task.workflow)?.effects.get(task.name);
    if (handler === undefined) throw new Error(`${task.workflow} has no effect "${task.name}"`);
    const run = (typeof handler === "function" ? handler : handler.run) as unknown as EffectHandler<
      unknown,
      EventObject,
      W
    >;
    const { id: key, instance, dueAt, crashes, failures } = task;
    // What it brings back could not be committed, and it would be done again and again.
    await steps.checkKnown(task);
    const effectRun: EffectRun = {
      key,
      instance,
      dueAt,
      get signal() {
        return hold.signal;
      },
      crashes,
      failures,
    };
    let refused: Refusal | null = null;
    for (let look = 0; look < MOST_LOOKS; look++) {
      const outcome: EffectOutcome<EventObject, W> = (await run(JSON.parse(task.payload), effectRun)) ?? {};
      const { event, starts = [], writes = [] } = outcome;
      refused = await settle(task, event, { starts, writes });
      if (refused === null) return;
    }
    if (refused !== null) throw refusalError(refused);
  };

  const deliverMessage = async (task: ClaimedTask): Promise<void> => {
    const { start, event, otherwise } = JSON.parse(task.payload) as Message;
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
        const back = messageTask(
          `${task.id}:back`,
          otherwise.instance,
          otherwise.workflow,
          { event: otherwise.event },
          now(),
        );
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
        return settleOrThrow(task, JSON.parse(task.payload) as EventObject);
      case "message":
        return deliverMessage(task);
    }
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
