/** Runs an effect in a transaction of the database, whose last statement ends the task of the effect. */
import type { EventObject } from "xstate";
import { decided } from "../../../../storage/decided.ts";
import type { AnyCommit, ClaimedTask, Commit } from "../../../../storage/storage.ts";
import type { SqlTransaction, SqlOutcome } from "../../../workflow/host-sql.ts";
import { messageTask } from "../../../workflow/messages.ts";
import { givenLimits } from "../../../workflow/own-limit.ts";
import { fromJson } from "../../../workflow/values.ts";
import type { ModuleContext } from "../../engine-module.ts";
import { checkedOutcome } from "../../kernel/effect-outcome.ts";
import {
  consumptionOf,
  MAX_TRIES,
  type Refusal,
  type StartedEffect,
  throwRefusal,
  unlessTaken,
} from "../../kernel/end-task.ts";
import { givenEvent } from "../../kernel/given-events.ts";
import { rowsOf } from "./within.ts";

/** Null for an effect of another kind. */
export function inTransaction<W>(engine: ModuleContext<W>, effect: StartedEffect): Promise<void> | null {
  const { handler, task, run } = effect;
  if (!("transact" in handler)) return null;
  return runTransaction(engine, { task, run, handler: handler as unknown as HandlerTransaction<W> });
}

type HandlerTransaction<W> = SqlTransaction<unknown, EventObject, W>;

interface TransactionRun<W> extends Pick<StartedEffect, "task" | "run"> {
  readonly handler: HandlerTransaction<W>;
}

async function runTransaction<W>(
  engine: ModuleContext<W>,
  { task, run, handler }: TransactionRun<W>,
): Promise<void> {
  const { storage, hooks, steps } = engine;
  if (storage.transact === undefined) throw new TypeError("this storage has no transactions of handlers");
  const params = fromJson(JSON.parse(task.payload));
  const begin = (): Promise<void> => hooks.before(givenLimits(handler.limit as never, params as never));
  let refused: Refusal | null = null;
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    let hasBegun = false;
    let commit: AnyCommit = {};
    // Before there is a transaction: a wait within would keep its connection.
    await begin();
    const answer = await storage.transact(async (client) => {
      if (hasBegun) await begin();
      hasBegun = true;
      const outcome = checkedTransaction<W>(await handler.transact(params, client, run));
      // A process that stops, or has lost the lease, leaves the work to the next one.
      run.signal.throwIfAborted();
      commit = endOf(engine, task, outcome);
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

/** Its event is a message, which comes after it, and the database has refused before. */
function checkedTransaction<W>(outcome: unknown): SqlOutcome<EventObject, W> {
  const checked = checkedOutcome<W>(outcome);
  for (const name of ["expectedVersion", "queries", "refused"] as const) {
    if (checked[name] === undefined) continue;
    throw new TypeError(
      `outcome.${name}: a transaction has event, starts and writes: look and write with its own client`,
    );
  }
  return checked as SqlOutcome<EventObject, W>;
}

/** Locks what others wait for by its last statement only: so the event is a message, and the rows are new ones. */
function endOf<W>(
  { clock, steps }: ModuleContext<W>,
  task: ClaimedTask,
  { event, starts = [], writes = [] }: SqlOutcome<EventObject, W>,
): AnyCommit {
  const sent = { id: `${task.id}:sent:0`, dueAt: clock.now() };
  const arms = event === undefined ? [] : [messageTask(sent, task, { event: givenEvent(event) })];
  const { consumes } = consumptionOf<W>(task);
  const added = rowsOf(steps.planned({ arms, starts, writes }));
  if (added.queries !== undefined && added.queries.length > 0) throw ofProject();
  return consumes === undefined ? added : { ...added, consumes };
}

const ofProject = (): TypeError =>
  new TypeError(
    "outcome.starts: `project` of a started workflow returns queries, which no transaction of a handler carries out: start " +
      "it by the chart, behind the event",
  );
