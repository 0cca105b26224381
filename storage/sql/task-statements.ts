/** The statements on tasks and the rooms of their limits. */
import { columnsOf } from "../row.ts";
import { engineTables, type EngineTables, type StoredTask, type TaskRow } from "../engine-tables.ts";
import type { QueueName } from "../storage.ts";
import { assigned, insertInto, namedRead, type Statement, statement } from "./statement.ts";

/**
 * The condition of each queue's partial index. The planner uses a partial index only when the query has the same
 * condition, in literals.
 */
export const IN_QUEUE: { readonly [Q in QueueName]: string } = {
  steps: `"deadAt" is null and kind in ('timer', 'message') and (admission is null or admission = 'admitted')`,
  free: `"deadAt" is null and kind in ('effect', 'invocation') and "firstKey" is null`,
  limited: `"deadAt" is null and kind in ('effect', 'invocation') and "firstKey" is not null`,
};

/** The queue of a task, to be seen from its row. */
export const QUEUE_OF_TASK = `case when kind in ('timer', 'message') then 'steps'
      when "firstKey" is not null then 'limited' else 'free' end`;

/** Seeks from workflow to workflow. */
const workflowAfter = (queue: QueueName): Statement<{ after: string }, { workflow: string }> =>
  statement(
    `select workflow from "paystateTasks" where ${IN_QUEUE[queue]} and workflow > {after} order by workflow limit 1`,
  );

export const CRASHED = `select * from "paystateTasks" where "deadAt" is null and "crashedAt" is not null`;
const under = (admission: string): string =>
  `from "paystateTasks" where "deadAt" is null and "firstKey" is not null and "firstKey" = {firstKey}${admission}`;

/** The order in which parked tasks of one key are admitted. */
export const SOONEST_FIRST = "priority desc, seq";

/** Parked tasks of the same keys. */
const parkedBeside = under(` and admission = 'parked' and "lastKey" = {lastKey}`);

/** Admitted effects and invocations that nobody has in hand. */
export const UNHELD = `"deadAt" is null and "firstKey" is not null and admission = 'admitted' and holder is null
      and kind in ('effect', 'invocation')`;

/** The keys and admission of a removed task, whose room other tasks may take. */
export type GoneTask = Pick<TaskRow, "firstKey" | "lastKey" | "admission"> & {
  /** 0 where nothing is parked under its first key; where it is not told, that is looked for. */
  readonly hasParked?: number;
};

const GONE = `returning "firstKey", "lastKey", admission`;

export const taskStatements = {
  insert: statement<StoredTask>(insertInto(`"paystateTasks"`, columnsOf(engineTables.paystateTasks))),
  one: namedRead<{ id: string }, TaskRow>(`select * from "paystateTasks" where id = {id}`),
  page: statement<{ after: string; limit: number }, TaskRow>(
    `select * from "paystateTasks" where id > {after} order by id limit {limit}`,
  ),
  remove: statement<{ id: string }, TaskRow>(`delete from "paystateTasks" where id = {id}`),
  consume: statement<{ id: string; token: number }, GoneTask>(
    `delete from "paystateTasks" where id = {id} and token = {token} and token > 0 ${GONE}, exists (
      select 1 from "paystateTasks" p where p."deadAt" is null and p."firstKey" is not null and p."firstKey" = "paystateTasks"."firstKey"
        and p.admission = 'parked') as "hasParked"`,
  ),
  disarm: statement<{ instance: string; name: string }, GoneTask>(
    `delete from "paystateTasks" where instance = {instance} and name = {name} and kind in ('timer', 'invocation') ${GONE}`,
  ),
  end: statement<{ instance: string }, GoneTask>(
    `delete from "paystateTasks" where instance = {instance} and kind in ('timer', 'invocation') ${GONE}`,
  ),
  adopt: statement<{ instance: string; workflow: string }>(
    `update "paystateTasks" set workflow = {workflow} where instance = {instance} and workflow <> {workflow}`,
  ),
  /** No kind is called "", so an `except` of "" excludes nothing. */
  ofInstance: statement<{ instance: string; except: string; limit: number }, TaskRow>(
    `select * from "paystateTasks" where instance = {instance} and kind <> {except} order by name, seq limit {limit}`,
  ),
  steps: statement<{ workflow: string; limit: number }, TaskRow>(
    `select * from "paystateTasks" where ${IN_QUEUE.steps} and workflow = {workflow} order by "visibleAt", seq limit {limit}`,
  ),
  workflowAfter: {
    steps: workflowAfter("steps"),
    free: workflowAfter("free"),
    limited: workflowAfter("limited"),
  },
  anyCrashed: statement<object, TaskRow>(`${CRASHED} limit 1`),
  // A condition that the planner seeks by, as it does not by "is not null".
  heldCrashed: statement<object, TaskRow>(`${CRASHED} and holder >= ''`),
  failing: statement<{ least: number; limit: number }, TaskRow>(
    `select * from "paystateTasks" where "deadAt" is null and "failingSince" is not null and failures >= {least}
      order by "failingSince", seq limit {limit}`,
  ),
  dead: statement<{ limit: number }, TaskRow>(
    `select * from "paystateTasks" where "deadAt" is not null order by "deadAt" desc, seq desc limit {limit}`,
  ),
  admittedUnder: statement<{ firstKey: string }, { count: number }>(
    `select count(*) as count ${under(" and admission = 'admitted'")}`,
  ),
  admittedIn: statement<{ firstKey: string; lastKey: string }, { count: number }>(
    `select count(*) as count ${under(` and admission = 'admitted' and "lastKey" = {lastKey}`)}`,
  ),
  /** Seeks from first key to first key. */
  firstKeyAfter: statement<{ after: string }, { firstKey: string }>(
    `select "firstKey" from "paystateTasks" where "deadAt" is null and "firstKey" is not null and "firstKey" > {after}
      order by "firstKey" limit 1`,
  ),
  /** Seeks from last key to last key, however many tasks lie between. */
  headAfter: statement<{ firstKey: string; after: string }, TaskRow>(
    `select * ${under(` and admission = 'parked' and "lastKey" > {after} order by "lastKey", ${SOONEST_FIRST} limit 1`)}`,
  ),
  parked: statement<{ key: string; limit: number }, TaskRow>(
    `select * from "paystateTasks" where "firstKey" = {key} and "deadAt" is null and admission = 'parked' and "lastKey" = {key}
      order by ${SOONEST_FIRST} limit {limit}`,
  ),
  before: statement<
    Pick<TaskRow, "firstKey" | "lastKey" | "priority" | "seq"> & { limit: number },
    { count: number }
  >(
    `select count(*) as count from (
      select * from (select 1 ${parkedBeside} and priority > {priority} limit {limit}) as parts_above union all
      select * from (select 1 ${parkedBeside} and priority = {priority} and seq < {seq} limit {limit}) as parts_earlier) as parts`,
  ),
  overrides: statement<{ firstKey: string; lastKey: string }, EngineTables["paystateLimits"]>(
    `select key, "atMost" from "paystateLimits" where key in ({firstKey}, {lastKey})`,
  ),
  setOverride: statement<{ key: string; atMost: number }>(
    `insert into "paystateLimits" (key, "atMost") values ({key}, {atMost}) on conflict (key) do update set "atMost" = {atMost}`,
  ),
  dropOverride: statement<{ key: string }>(`delete from "paystateLimits" where key = {key}`),
  unheld: statement<{ key: string }, TaskRow>(
    `select * from "paystateTasks" where ${UNHELD} and "firstKey" = {key}
      union all select * from "paystateTasks" where ${UNHELD} and "lastKey" = {key} and "lastKey" <> "firstKey"`,
  ),
  rated: statement<{ key: string }, TaskRow>(
    `select * from "paystateTasks" where "rateKey" is not null and "rateKey" = {key}`,
  ),
  firstKeysOf: statement<{ key: string }, { firstKey: string }>(
    `select "firstKey" from "paystateTasks" where "deadAt" is null and "lastKey" <> "firstKey" and "lastKey" = {key}
      and admission = 'parked'`,
  ),
  anyUnder: statement<{ firstKey: string }, { id: string }>(`select id ${under(" limit 1")}`),
};

/** Changes these fields of one task: indexes over others are not written. */
export function updateTask(fields: readonly string[]): Statement<StoredTask, unknown> {
  const shape = fields.join();
  const text = updates.get(shape) ?? `update "paystateTasks" set ${assigned(fields)} where id = {id}`;
  updates.set(shape, text);
  return { text };
}

/** Updates by their fields: as many as there are acts. */
const updates = new Map<string, string>();
