/** The rows of tasks in SQLite. */
import { compareTexts } from "../compare-texts.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import { encodeRow } from "../sql/codecs.ts";
import { statement } from "../sql/statement.ts";
import { IN_QUEUE, taskStatements, updateTask } from "../sql/task-statements.ts";
import type { QueueName } from "../storage.ts";
import type { TaskRow, TaskRows } from "../task-rows.ts";
import type { Connection } from "./connection.ts";

/**
 * The number of waiting suspects of a workflow that are examined, when the first suspects of the line have full keys or
 * queues.
 */
const LOOK_AHEAD = 128;

/** Columns that may change after arming; other columns are not compared. */
const CHANGING = [
  ...(["holder", "visibleAt", "delayMs", "token", "admission", "crashes", "crashedAt", "deadAt"] as const),
  ...(["rateKey", "dueAt", "failures", "lastError", "failingSince", "name", "payload"] as const),
];

/** Tasks of a queue, of each workflow the earliest. */
interface Due {
  /** JSON text of a list. */
  workflows: string;
  until: number;
  limit: number;
}

/** One seek for each workflow. */
const inLine = (queue: QueueName, more = ""): string =>
  `select t.* from json_each({workflows}) cross join {@tasks} t on t.seq in (
    select seq from {@tasks} where ${IN_QUEUE[queue]} and workflow = json_each.value${more} and "visibleAt" <= {until}
    order by "visibleAt", seq limit {limit})`;

/** Statements of claims. */
export const dueStatements = {
  steps: statement<Due, TaskRow>(inLine("steps")),
  free: statement<Due, TaskRow>(inLine("free")),
  limited: statement<Due & { admission: string }, TaskRow>(inLine("limited", " and admission = {admission}")),
};

export const sqliteTaskRows = (connection: Connection): TaskRows => ({
  get: (id) => connection.get(taskStatements.one, { id }),
  insert(task) {
    connection.run(taskStatements.insert, encodeRow(engineTables.tasks, task) as unknown as StoredTask);
  },
  put(task, before) {
    const changed: string[] = [];
    for (const field of CHANGING) if (task[field] !== before[field]) changed.push(field);
    if (changed.length > 0) connection.run(updateTask(changed), task);
  },
  remove: (id) => void connection.run(taskStatements.remove, { id }),
  page: (after, limit) => connection.all(taskStatements.page, { after, limit }),
  consume: (id, token) => connection.get(taskStatements.consume, { id, token }),
  disarm: (instance, name) =>
    name === undefined
      ? connection.all(taskStatements.end, { instance })
      : connection.all(taskStatements.disarm, { instance, name }),
  adopt: (instance, workflow) => void connection.run(taskStatements.adopt, { instance, workflow }),
  ofInstance: (instance, limit, except) =>
    connection.all(taskStatements.ofInstance, { instance, limit, except: except ?? "" }),
  due({ line, workflows, until, limit }) {
    if (workflows.length === 0) return [];
    const wanted = { workflows: JSON.stringify([...new Set(workflows)]), until, limit };
    return line === "steps" || line === "free"
      ? connection.all(dueStatements[line], wanted)
      : connection.all(dueStatements.limited, { ...wanted, admission: line });
  },
  *workflows(queue) {
    const next = (after: string) => connection.get(taskStatements.workflowAfter[queue], { after });
    for (let row = next(""); row !== undefined; row = next(row.workflow)) yield row.workflow;
  },
  suspects(workflows) {
    if (connection.get(taskStatements.anyWaiting, {}) === undefined) return [];
    const waiting = [...new Set(workflows)].flatMap((workflow) =>
      connection.all(taskStatements.waitingSuspects, { workflow, limit: LOOK_AHEAD }),
    );
    return [...connection.all(taskStatements.heldSuspects, {}), ...waiting];
  },
  ...limitRows(connection),
  dead: (limit) => connection.all(taskStatements.dead, { limit }),
  failing: (least, limit) => connection.all(taskStatements.failing, { least, limit }),
});

/** What limits are judged by. */
const limitRows = (connection: Connection) =>
  ({
    admitted(firstKey, lastKey) {
      const found =
        lastKey === undefined
          ? connection.get(taskStatements.admittedUnder, { firstKey })
          : connection.get(taskStatements.admittedIn, { firstKey, lastKey });
      return found?.count ?? 0;
    },
    hasAny: (firstKey) => connection.get(taskStatements.anyUnder, { firstKey }) !== undefined,
    *firstKeys(after) {
      const next = (key: string) => connection.get(taskStatements.firstKeyAfter, { after: key });
      for (let row = next(after); row !== undefined; row = next(row.firstKey)) yield row.firstKey;
    },
    heads: (firstKey, left) => heads(connection, firstKey, left),
    parked: (key, limit) => connection.all(taskStatements.parked, { key, limit }),
    before: ({ firstKey, lastKey, priority, seq }, limit) =>
      Math.min(
        limit,
        connection.get(taskStatements.before, { firstKey, lastKey, priority, seq, limit })?.count ?? 0,
      ),
    overrides: (firstKey, lastKey) => connection.all(taskStatements.overrides, { firstKey, lastKey }),
    setOverride(key, atMost) {
      if (atMost === null) connection.run(taskStatements.dropOverride, { key });
      else connection.run(taskStatements.setOverride, { key, atMost });
    },
    unheld: (key) => connection.all(taskStatements.unheld, { key }),
    rated: (key) => connection.all(taskStatements.rated, { key }),
    firstKeysOf: (key) => connection.all(taskStatements.firstKeysOf, { key }).map(({ firstKey }) => firstKey),
  }) satisfies Partial<TaskRows>;

/** Heads behind the key that a task has left, then heads before that key. */
function* heads(connection: Connection, firstKey: string, left: string): Generator<TaskRow> {
  const behind = (after: string | null): TaskRow | undefined =>
    connection.get(taskStatements.headAfter, { firstKey, after: after ?? "" });
  const first = behind("");
  // Mostly nothing is parked, which one seek tells.
  if (first === undefined) return;
  const isBefore = ({ lastKey }: TaskRow): boolean => compareTexts(lastKey ?? "", left) <= 0;
  let head: TaskRow | undefined = isBefore(first) ? behind(left) : first;
  for (; head !== undefined; head = behind(head.lastKey)) yield head;
  head = first;
  while (head !== undefined && isBefore(head)) {
    yield head;
    if (head.lastKey === left) return;
    head = behind(head.lastKey);
  }
}
