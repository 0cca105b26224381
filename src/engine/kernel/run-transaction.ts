/** Runs an effect in a transaction of the database, whose last statement ends the task of the effect. */
import type { EventObject } from "xstate";
import { decided } from "../../../storage/decided.ts";
import type { AnyCommit, ClaimedTask, Commit } from "../../../storage/storage.ts";
import { checkedTransaction } from "./effect-outcome.ts";
import {
  consumptionOf,
  MAX_LOOKS,
  type Refusal,
  type TaskRun,
  throwRefusal,
  unlessTaken,
} from "./end-task.ts";
import { givenEvent } from "./given-events.ts";
import { messageTask } from "../../workflow/messages.ts";
import { givenLimits } from "../../workflow/own-limit.ts";
import { fromJson } from "../../workflow/values.ts";
import type { EffectRun, Transaction, TransactionOutcome } from "../../workflow/workflow.ts";

export type HandlerTransaction<W> = Transaction<unknown, EventObject, W>;

interface TransactionRun<W> {
  readonly task: ClaimedTask;
  readonly run: EffectRun;
  readonly handler: HandlerTransaction<W>;
}

export async function runTransaction<W>(
  around: TaskRun<W>,
  { task, run, handler }: TransactionRun<W>,
): Promise<void> {
  const { storage, before, steps } = around;
  if (storage.transact === undefined) throw new TypeError("this storage has no transactions of handlers");
  const params = fromJson(JSON.parse(task.payload));
  const begin = (): Promise<void> => before(givenLimits(handler.limit as never, params as never));
  let refused: Refusal | null = null;
  for (let look = 0; look < MAX_LOOKS; look++) {
    let hasBegun = false;
    let commit: AnyCommit = {};
    // Before there is a transaction: a wait within would keep its connection.
    await begin();
    const answer = await storage.transact(async (client) => {
      if (hasBegun) await begin();
      hasBegun = true;
      const outcome = checkedTransaction<W>(await handler.transact(params, client, run));
      // Who stops, or has lost the lease, leaves it to the next one.
      run.signal.throwIfAborted();
      commit = await endOf(around, task, outcome);
      return commit;
    });
    const result = decided(answer);
    if (result.ok) {
      steps.committed(commit as Commit<W>);
      return;
    }
    refused = unlessTaken(result);
    if (refused === null) return;
  }
  throwRefusal(refused);
}

/** Locks what others wait for by its last statement only: so the event is a message, and the rows are new ones. */
async function endOf<W>(
  around: TaskRun<W>,
  task: ClaimedTask,
  { event, starts = [], writes = [] }: TransactionOutcome<EventObject, W>,
): Promise<AnyCommit> {
  const sent = { id: `${task.id}:sent:0`, dueAt: around.clock.now() };
  const arms = event === undefined ? [] : [messageTask(sent, task, { event: givenEvent(event) })];
  const { consumes } = consumptionOf<W>(task);
  const added = around.steps.added({ arms, starts, writes });
  return {
    ...added,
    ...(consumes !== undefined && { consumes }),
  };
}
