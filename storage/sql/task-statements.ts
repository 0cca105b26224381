/** The statements on tasks and the rooms of their limits. */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { columnsOf } from "../row.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import type { Encode, Schema } from "./schema.ts";
import { pick, statement } from "./statement.ts";

type TaskRow = Encode<StoredTask>;

/** What names a task in the hands of its latest claimant. */
interface Held {
  id: string;
  token: number;
}

// The planner uses a partial index only where the query says what the index does, in literals.
const isStep = sql<boolean>`kind in ('timer', 'message') and (admission is null or admission = 'admitted')`;
const isWork = sql<boolean>`kind in ('effect', 'invocation')`;
const hasLimits = sql<boolean>`"firstKey" is not null`;
const isLimited = sql<boolean>`kind in ('effect', 'invocation') and "firstKey" is not null`;
const isFree = sql<boolean>`kind in ('effect', 'invocation') and "firstKey" is null`;

interface InAdmission {
  workflow: string;
  admission: "admitted" | "parked" | "paused";
}

const claimed = sql<boolean>`token > 0`;
const isParkedMessage = sql<boolean>`kind = 'message' and admission = 'parked' and "deadAt" is null`;
const isDisarmable = sql<boolean>`kind in ('timer', 'invocation')`;

/** Of a task that leaves: the keys in which others may follow. */
const KEYS = ["firstKey", "lastKey", "admission"] as const;

/** Given back, or changed: a task with limits has no room until it is due, but a message keeps its room. */
const pausedAdmission = sql<
  "paused" | null
>`case when "firstKey" is null or kind = 'message' then admission else 'paused' end`;

export function taskStatements(db: Kysely<Schema>) {
  return {
    ...committedStatements(db),
    ...leaseStatements(db),
    ...dueStatements(db),
    ...suspectStatements(db),
    ...firstStatements(db),
    ...listStatements(db),
    ...repairStatements(db),
  };
}

/** What commits do with tasks. */
function committedStatements(db: Kysely<Schema>) {
  return {
    arm: statement<TaskRow>()((row) =>
      db.insertInto("tasks").values(pick(row, columnsOf(engineTables.tasks))),
    ),
    disarm: statement<{ instance: string; timer: string }>()(({ instance, timer }) =>
      db
        .deleteFrom("tasks")
        .where("instance", "=", instance)
        .where("name", "=", timer)
        .where(isDisarmable)
        .returning(KEYS),
    ),
    end: statement<{ instance: string }>()(({ instance }) =>
      db.deleteFrom("tasks").where("instance", "=", instance).where(isDisarmable).returning(KEYS),
    ),
    adopt: statement<{ instance: string; workflow: string }>()(({ instance, workflow }) =>
      db
        .updateTable("tasks")
        .set({ workflow })
        .where("instance", "=", instance)
        .where("workflow", "<>", workflow),
    ),
    amend: statement<{ task: string; name: string; payload: string; dueAt: number }>()(
      ({ task, name, payload, dueAt }) =>
        db
          .updateTable("tasks")
          .set({ name, payload, dueAt, visibleAt: dueAt, holder: sql.lit(null), token: sql`token + 1` })
          .set({ admission: pausedAdmission })
          .where("id", "=", task)
          .returning(KEYS),
    ),
    workflowOf: statement<{ instance: string }>()(({ instance }) =>
      db.selectFrom("instances").select("workflow").where("id", "=", instance),
    ),
    consume: statement<Held>()(({ id, token }) =>
      db.deleteFrom("tasks").where("id", "=", id).where("token", "=", token).where(claimed).returning(KEYS),
    ),
    consumeParked: statement<{ id: string; firstKey: string }>()(({ id, firstKey }) =>
      db.deleteFrom("tasks").where("id", "=", id).where("firstKey", "=", firstKey).where(isParkedMessage),
    ),
  };
}

/** What holders do with the tasks in their hands. */
function leaseStatements(db: Kysely<Schema>) {
  return {
    release: statement<Held & { dueAt: number; failed: number; error: string | null }>()(
      ({ id, token, dueAt, failed, error }) =>
        db
          .updateTable("tasks")
          .set({
            dueAt,
            visibleAt: dueAt,
            holder: sql.lit(null),
            admission: pausedAdmission,
            crashedAt: sql`case when ${failed} = 0 then ${sql.ref("crashedAt")} end`,
            failures: sql`failures + ${failed}`,
            lastError: sql`coalesce(${error}, ${sql.ref("lastError")})`,
            // Of a column that is set, an update reads what it was.
            failingSince: sql`coalesce(${sql.ref("failingSince")}, case when ${failed} = 1 then ${sql.ref("dueAt")} end)`,
          })
          .where("id", "=", id)
          .where("token", "=", token)
          .where(claimed)
          .where("deadAt", "is", null)
          .returning(KEYS),
    ),
    lease: statement<TaskRow>()((row) =>
      db
        .updateTable("tasks")
        .set(pick(row, ["holder", "visibleAt", "token", "admission"]))
        .where("id", "=", row.id),
    ),
    suspect: statement<TaskRow>()((row) =>
      db
        .updateTable("tasks")
        .set(pick(row, ["holder", "visibleAt", "crashes", "crashedAt", "deadAt", "admission"]))
        .where("id", "=", row.id),
    ),
  };
}

/** What can be claimed now, and what next. */
function dueStatements(db: Kysely<Schema>) {
  return {
    dueSteps: dueOfQueue(db, isStep),
    dueFree: dueOfQueue(db, isFree),
    dueLimited: statement<InAdmission & { now: number; limit: number }>()(
      ({ workflow, admission, now, limit }) =>
        limited(db)
          .selectAll()
          .where("workflow", "=", workflow)
          .where("admission", "=", admission)
          .where("visibleAt", "<=", now)
          .orderBy("visibleAt")
          .orderBy("seq")
          .limit(limit),
    ),
    nextSteps: nextOfQueue(db, isStep),
    nextFree: nextOfQueue(db, isFree),
    nextLimited: statement<InAdmission>()(({ workflow, admission }) =>
      limited(db)
        .select("visibleAt as at")
        .where("workflow", "=", workflow)
        .where("admission", "=", admission)
        .orderBy("visibleAt")
        .limit(sql.lit(1)),
    ),
  };
}

/** The line of those that may have ended their process. */
function suspectStatements(db: Kysely<Schema>) {
  const suspects = () => alive(db).where("crashedAt", "is not", null);
  return {
    anyWaiting: statement<object>()(() =>
      suspects().select("id").where("holder", "is", null).limit(sql.lit(1)),
    ),
    // A condition that the planner seeks by, as it does not by "is not null".
    heldSuspects: statement<object>()(() =>
      suspects()
        .selectAll()
        .where(sql<boolean>`holder >= ''`),
    ),
    waitingSuspects: statement<{ workflow: string; limit: number }>()(({ workflow, limit }) =>
      suspects()
        .selectAll()
        .where("workflow", "=", workflow)
        .where("holder", "is", null)
        .orderBy("crashes")
        .orderBy(sql<boolean>`${isWork}`)
        .orderBy("seq")
        .limit(limit),
    ),
  };
}

/** One seek from workflow to workflow. */
function firstStatements(db: Kysely<Schema>) {
  return {
    firstSteps: firstOfQueue(db, isStep),
    firstFree: firstOfQueue(db, isFree),
    limitedAfter: statement<{ after: string }>()(({ after }) =>
      limited(db).select("workflow").where("workflow", ">", after).orderBy("workflow").limit(sql.lit(1)),
    ),
  };
}

/** What people look at. */
function listStatements(db: Kysely<Schema>) {
  return {
    /** No kind is called "", so that excepts none. */
    ofInstance: statement<{ instance: string; limit: number; except: string }>()(
      ({ instance, limit, except }) =>
        db
          .selectFrom("tasks")
          .selectAll()
          .where("instance", "=", instance)
          .where(sql<boolean>`kind <> ${except}`)
          .orderBy("name")
          .orderBy("seq")
          .limit(limit),
    ),
    parked: statement<{ key: string; limit: number }>()(({ key, limit }) =>
      alive(db)
        .where(hasLimits)
        .selectAll()
        .where("firstKey", "=", key)
        .where("admission", "=", sql.lit("parked"))
        .where("lastKey", "=", key)
        .orderBy("seq")
        .limit(limit),
    ),
    one: statement<{ id: string }>()(({ id }) => db.selectFrom("tasks").selectAll().where("id", "=", id)),
    failing: statement<{ least: number; limit: number }>()(({ least, limit }) =>
      alive(db)
        .selectAll()
        .where("failingSince", "is not", null)
        .where("failures", ">=", least)
        .orderBy("failingSince")
        .orderBy("seq")
        .limit(limit),
    ),
    dead: statement<{ limit: number }>()(({ limit }) =>
      db
        .selectFrom("tasks")
        .selectAll()
        .where("deadAt", "is not", null)
        .orderBy("deadAt", "desc")
        .orderBy("seq", "desc")
        .limit(limit),
    ),
  };
}

const RETRIED = [
  "dueAt",
  "visibleAt",
  "crashes",
  "crashedAt",
  "failures",
  "failingSince",
  "deadAt",
  "admission",
] as const;

/** What people put right. */
function repairStatements(db: Kysely<Schema>) {
  return {
    retry: statement<TaskRow>()((row) =>
      db.updateTable("tasks").set(pick(row, RETRIED)).where("id", "=", row.id),
    ),
    drop: statement<{ id: string }>()(({ id }) =>
      db
        .deleteFrom("tasks")
        .where("id", "=", id)
        .where(sql<boolean>`("deadAt" is not null or kind = 'message' and holder is null and failures > 0)`)
        .returning(KEYS),
    ),
  };
}

/** Those that are no dead letters. */
function alive(db: Kysely<Schema>) {
  return db.selectFrom("tasks").where("deadAt", "is", null);
}

/** Due tasks of one queue, earliest first. */
function dueOfQueue(db: Kysely<Schema>, ofQueue: RawBuilder<boolean>) {
  return statement<{ workflow: string; now: number; limit: number }>()(({ workflow, now, limit }) =>
    alive(db)
      .where(ofQueue)
      .selectAll()
      .where("workflow", "=", workflow)
      .where("visibleAt", "<=", now)
      .orderBy("visibleAt")
      .orderBy("seq")
      .limit(limit),
  );
}

/** When the first task of one queue can be claimed. */
function nextOfQueue(db: Kysely<Schema>, ofQueue: RawBuilder<boolean>) {
  return statement<{ workflow: string }>()(({ workflow }) =>
    alive(db)
      .where(ofQueue)
      .select("visibleAt as at")
      .where("workflow", "=", workflow)
      .orderBy("visibleAt")
      .limit(sql.lit(1)),
  );
}

/** The first task in this queue of the next workflow that has any. */
function firstOfQueue(db: Kysely<Schema>, ofQueue: RawBuilder<boolean>) {
  return statement<{ after: string }>()(({ after }) =>
    alive(db)
      .where(ofQueue)
      .selectAll()
      .where("workflow", ">", after)
      .orderBy("workflow")
      .orderBy("visibleAt")
      .limit(sql.lit(1)),
  );
}

/** Effects and invocations with limits. */
function limited(db: Kysely<Schema>) {
  return alive(db).where(isLimited);
}

/** Which tasks have room in a key, and which wait for it. */
export function roomStatements(db: Kysely<Schema>) {
  const under = (firstKey: string, admission: "admitted" | "parked") =>
    alive(db).where(hasLimits).where("firstKey", "=", firstKey).where("admission", "=", sql.lit(admission));
  return {
    admittedUnder: statement<{ firstKey: string }>()(({ firstKey }) =>
      under(firstKey, "admitted").select(({ fn }) => fn.countAll<number>().as("count")),
    ),
    admittedIn: statement<{ firstKey: string; lastKey: string }>()(({ firstKey, lastKey }) =>
      under(firstKey, "admitted")
        .where("lastKey", "=", lastKey)
        .select(({ fn }) => fn.countAll<number>().as("count")),
    ),
    /** One seek from last key to last key, however many tasks lie between them. */
    headAfter: statement<{ firstKey: string; after: string }>()(({ firstKey, after }) =>
      under(firstKey, "parked")
        .selectAll()
        .where("lastKey", ">", after)
        .orderBy("lastKey")
        .orderBy("seq")
        .limit(sql.lit(1)),
    ),
    anyUnder: statement<{ firstKey: string }>()(({ firstKey }) =>
      alive(db).select("id").where(hasLimits).where("firstKey", "=", firstKey).limit(sql.lit(1)),
    ),
    admit: statement<{ id: string }>()(({ id }) =>
      db
        .updateTable("tasks")
        .set({ admission: sql.lit("admitted") })
        .where("id", "=", id),
    ),
  };
}
