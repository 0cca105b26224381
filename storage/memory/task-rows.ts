/** The rows of tasks in memory. */
import { compareTexts, engineTables, type ClaimQueueName, type TaskRow, type TaskRows } from "../index.ts";
import { by, type Journal, type Order, Rows } from "./rows.ts";

const asArmed = by<TaskRow>("seq");
/** As parked tasks of one key are admitted. */
const soonestFirst: Order<TaskRow> = (a, b) => b.priority - a.priority || asArmed(a, b);
const byDeath = by<TaskRow>("deadAt", "seq");

export function memoryTaskRows(journal: Journal): TaskRows {
  const { columns, lookups = [] } = engineTables.tasks;
  const tasks = new Rows<TaskRow>({ columns: { ...columns, seq: "integer" }, lookups }, journal);
  let armed = 0;
  return {
    get: (id) => tasks.get(id),
    insert(task) {
      const isNew = tasks.insert(tasks.copy({ ...task, seq: (armed += 1) }));
      if (!isNew) throw new Error(`task ${task.id} was armed before`);
    },
    put: (task) => tasks.put(tasks.copy(task)),
    remove: (id) => tasks.remove(tasks.get(id)),
    page: (after, limit) =>
      tasks.select({ where: ({ id }) => compareTexts(id, after) > 0, order: by("id"), limit }),
    consume(id, token) {
      const task = tasks.get(id);
      if (token < 1 || task?.token !== token) return undefined;
      tasks.remove(task);
      return task;
    },
    disarm(instance, name) {
      const isGone = (task: TaskRow): boolean =>
        (task.kind === "timer" || task.kind === "invocation") && task.name === (name ?? task.name);
      const gone = tasks.select({ under: ["instance", instance], where: isGone });
      for (const task of gone) tasks.remove(task);
      return gone;
    },
    adopt(instance, workflow) {
      for (const task of tasks.select({ under: ["instance", instance] })) tasks.put({ ...task, workflow });
    },
    ofInstance: (instance, limit, except) =>
      tasks.select({
        under: ["instance", instance],
        where: ({ kind }) => kind !== except,
        order: by("name", "seq"),
        limit,
      }),
    due({ line, workflows, until, limit }) {
      const where = (task: TaskRow): boolean => task.visibleAt <= until && lineOf(task) === line;
      return [...new Set(workflows)].flatMap((workflow) =>
        tasks.select({ under: ["workflow", workflow], where, order: by("visibleAt", "seq"), limit }),
      );
    },
    workflows(queue) {
      const lines = queue === "limited" ? ["admitted", "parked", "paused"] : [queue];
      const waiting = tasks.select({ where: (task) => lines.includes(lineOf(task) ?? "") });
      return new Set(waiting.map(({ workflow }) => workflow));
    },
    suspects: () => tasks.select({ where: (task) => isLiving(task) && task.crashedAt !== null }),
    dead: (limit) =>
      tasks.select({ where: (task) => !isLiving(task), order: (a, b) => byDeath(b, a), limit }),
    failing: (least, limit) =>
      tasks.select({
        where: (task) => isLiving(task) && task.failingSince !== null && task.failures >= least,
        order: by("failingSince", "seq"),
        limit,
      }),
    ...limitRows(tasks, new Rows(engineTables.paystateLimits, journal)),
  };
}

/** What limits are judged by. */
const limitRows = (tasks: Rows<TaskRow>, overrides: Rows<{ key: string; atMost: number }>) =>
  ({
    admitted: (firstKey, lastKey) =>
      tasks.select({
        under: ["firstKey", firstKey],
        where: (task) => isIn("admitted", task) && task.lastKey === (lastKey ?? task.lastKey),
      }).length,
    hasAny: (firstKey) => tasks.select({ under: ["firstKey", firstKey], where: isLiving }).length > 0,
    firstKeys(after) {
      const keys = new Set(tasks.select({ where: isLiving }).map(({ firstKey }) => firstKey ?? ""));
      return [...keys].filter((key) => compareTexts(key, after) > 0).toSorted(compareTexts);
    },
    heads(firstKey, after) {
      const heads = new Map<string, TaskRow>();
      for (const task of parkedUnder(tasks, firstKey)) {
        if (!heads.has(task.lastKey ?? "")) heads.set(task.lastKey ?? "", task);
      }
      const keys = [...heads.keys()].toSorted(compareTexts);
      const turn = keys.findIndex((key) => compareTexts(key, after) > 0);
      const inTurn = [...keys.slice(Math.max(0, turn)), ...keys.slice(0, Math.max(0, turn))];
      return inTurn.flatMap((key) => heads.get(key) ?? []);
    },
    parked: (key, limit) =>
      parkedUnder(tasks, key)
        .filter(({ lastKey }) => lastKey === key)
        .slice(0, limit),
    before(task, limit) {
      const isBefore = (other: TaskRow): boolean =>
        other.lastKey === task.lastKey && soonestFirst(other, task) < 0;
      return parkedUnder(tasks, task.firstKey).filter(isBefore).slice(0, limit).length;
    },
    overrides: (...keys) => [...new Set(keys)].flatMap((key) => overrides.get(key) ?? []),
    setOverride(key, atMost) {
      if (atMost === null) overrides.remove(overrides.get(key));
      else overrides.put({ key, atMost });
    },
    unheld: (key) =>
      tasks.select({
        where: (task) =>
          isIn("admitted", task) &&
          (task.kind === "effect" || task.kind === "invocation") &&
          task.holder === null &&
          (task.firstKey === key || task.lastKey === key),
      }),
    rated: (key) => tasks.select({ where: ({ rateKey }) => rateKey === key }),
    firstKeysOf(lastKey) {
      const parked = tasks.select({ where: (task) => isIn("parked", task) && task.lastKey === lastKey });
      return new Set(parked.map(({ firstKey }) => firstKey ?? ""));
    },
  }) satisfies Partial<TaskRows>;

const isLiving = ({ deadAt }: TaskRow): boolean => deadAt === null;

const isIn = (admission: TaskRow["admission"], task: TaskRow): boolean =>
  isLiving(task) && task.admission === admission;

/** Parked tasks, as they are admitted. */
const parkedUnder = (tasks: Rows<TaskRow>, firstKey: string | null): TaskRow[] =>
  tasks.select({
    under: ["firstKey", firstKey],
    where: (task) => isIn("parked", task),
    order: soonestFirst,
  });

/** Null for a dead letter, and for a message that waits for room. */
function lineOf({ kind, firstKey, admission, deadAt }: TaskRow): ClaimQueueName | null {
  if (deadAt !== null) return null;
  if (kind === "timer" || kind === "message") return admission === "parked" ? null : "steps";
  return firstKey === null ? "free" : admission;
}
