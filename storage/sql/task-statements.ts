/** The statements on tasks and their lanes. */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { columnsOf } from "../row.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import type { Encode, LaneRow, NarrowedLaneRow, Schema } from "./schema.ts";
import { pick, statement } from "./statement.ts";

type TaskRow = Encode<StoredTask>;

/** What names a task in the hands of its latest claimant. */
interface Held {
  id: string;
  token: number;
}

// The planner uses a partial index only where the query says what the index does, in literals.
const isStep = sql<boolean>`kind in ('timer', 'message')`;
const isWork = sql<boolean>`kind in ('effect', 'invocation')`;

const claimed = sql<boolean>`token > 0`;
const isDisarmable = sql<boolean>`kind in ('timer', 'invocation')`;

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
        .returning("lane"),
    ),
    end: statement<{ instance: string }>()(({ instance }) =>
      db.deleteFrom("tasks").where("instance", "=", instance).where(isDisarmable).returning("lane"),
    ),
    adopt: statement<{ instance: string; workflow: string }>()(({ instance, workflow }) =>
      db
        .updateTable("tasks")
        .set({ workflow })
        .where("instance", "=", instance)
        .where("workflow", "<>", workflow)
        .returning("lane"),
    ),
    amend: statement<{ task: string; name: string; payload: string; dueAt: number }>()(
      ({ task, name, payload, dueAt }) =>
        db
          .updateTable("tasks")
          .set({ name, payload, dueAt, visibleAt: dueAt, holder: sql.lit(null), token: sql`token + 1` })
          .where("id", "=", task)
          .returning("lane"),
    ),
    workflowOf: statement<{ instance: string }>()(({ instance }) =>
      db.selectFrom("instances").select("workflow").where("id", "=", instance),
    ),
    consume: statement<Held>()(({ id, token }) =>
      db.deleteFrom("tasks").where("id", "=", id).where("token", "=", token).where(claimed).returning("lane"),
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
          .returning("lane"),
    ),
    lease: statement<{ id: string; holder: string; until: number }>()(({ id, holder, until }) =>
      db
        .updateTable("tasks")
        .set({ holder, visibleAt: until, token: sql`token + 1` })
        .where("id", "=", id),
    ),
    suspect: statement<TaskRow>()((row) =>
      db
        .updateTable("tasks")
        .set(pick(row, ["holder", "visibleAt", "crashes", "crashedAt", "deadAt"]))
        .where("id", "=", row.id),
    ),
  };
}

/** What can be claimed now, and what next. */
function dueStatements(db: Kysely<Schema>) {
  return {
    dueSteps: dueWithoutLane(db, isStep),
    dueFree: dueWithoutLane(db, isWork),
    dueLaned: statement<{ lane: string; workflow: string; now: number; limit: number }>()(
      ({ lane, workflow, now, limit }) =>
        alive(db)
          .selectAll()
          .where("lane", "=", lane)
          .where("workflow", "=", workflow)
          .where("visibleAt", "<=", now)
          .orderBy("visibleAt")
          .orderBy("seq")
          .limit(limit),
    ),
    nextSteps: nextWithoutLane(db, isStep),
    nextFree: nextWithoutLane(db, isWork),
    nextInLane: statement<{ lane: string; workflow: string }>()(({ lane, workflow }) =>
      alive(db)
        .select("visibleAt as at")
        .where("lane", "=", lane)
        .where("workflow", "=", workflow)
        .orderBy("visibleAt")
        .limit(sql.lit(1)),
    ),
    /** When the lane has a slot again: the end of the cap-th last lease; no row when it has one now. */
    nextSlot: statement<{ lane: string; others: number }>()(({ lane, others }) =>
      alive(db)
        .select("visibleAt as at")
        .where("lane", "=", lane)
        .where("holder", "is not", null)
        .orderBy("visibleAt", "desc")
        .limit(sql.lit(1))
        .offset(others),
    ),
    heldInLane: statement<{ lane: string; now: number }>()(({ lane, now }) =>
      alive(db)
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("lane", "=", lane)
        .where("holder", "is not", null)
        .where("visibleAt", ">", now),
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
    firstSteps: firstWithoutLane(db, isStep),
    firstFree: firstWithoutLane(db, isWork),
    firstLaned: statement<{ after: string }>()(({ after }) =>
      db
        .selectFrom("lanes")
        .select(["workflow", "nextAt as at"])
        .where("workflow", ">", after)
        .orderBy("workflow")
        .orderBy("nextAt")
        .limit(sql.lit(1)),
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

/** What people put right. */
function repairStatements(db: Kysely<Schema>) {
  return {
    retry: statement<TaskRow>()((row) =>
      db
        .updateTable("tasks")
        .set(pick(row, ["dueAt", "visibleAt", "crashes", "crashedAt", "failures", "failingSince", "deadAt"]))
        .where("id", "=", row.id),
    ),
    drop: statement<{ id: string }>()(({ id }) =>
      db.deleteFrom("tasks").where("id", "=", id).where("deadAt", "is not", null),
    ),
  };
}

/** Those that are no dead letters. */
function alive(db: Kysely<Schema>) {
  return db.selectFrom("tasks").where("deadAt", "is", null);
}

/** Due tasks of one queue, earliest first. */
function dueWithoutLane(db: Kysely<Schema>, ofQueue: RawBuilder<boolean>) {
  return statement<{ workflow: string; now: number; limit: number }>()(({ workflow, now, limit }) =>
    withoutLane(db, ofQueue)
      .selectAll()
      .where("workflow", "=", workflow)
      .where("visibleAt", "<=", now)
      .orderBy("visibleAt")
      .orderBy("seq")
      .limit(limit),
  );
}

/** When the first task of one queue can be claimed. */
function nextWithoutLane(db: Kysely<Schema>, ofQueue: RawBuilder<boolean>) {
  return statement<{ workflow: string }>()(({ workflow }) =>
    withoutLane(db, ofQueue)
      .select("visibleAt as at")
      .where("workflow", "=", workflow)
      .orderBy("visibleAt")
      .limit(sql.lit(1)),
  );
}

/** The next workflow that has a task in this queue, and when the first of them can be claimed. */
function firstWithoutLane(db: Kysely<Schema>, ofQueue: RawBuilder<boolean>) {
  return statement<{ after: string }>()(({ after }) =>
    withoutLane(db, ofQueue)
      .select(["workflow", "visibleAt as at"])
      .where("workflow", ">", after)
      .orderBy("workflow")
      .orderBy("visibleAt")
      .limit(sql.lit(1)),
  );
}

function withoutLane(db: Kysely<Schema>, ofQueue: RawBuilder<boolean>) {
  return db.selectFrom("tasks").where("deadAt", "is", null).where("lane", "is", null).where(ofQueue);
}

export function laneStatements(db: Kysely<Schema>) {
  return { ...keptLaneStatements(db), ...standingStatements(db), ...foundLaneStatements(db) };
}

/** How a lane stands, and the first of many, each asked in one statement. */
function standingStatements(db: Kysely<Schema>) {
  return {
    /** Each row of the lane, with what its next time follows from: the cap it is narrowed to, its leases, its first task. */
    standing: statement<{ lane: string }>()(({ lane }) =>
      db
        .selectFrom("lanes")
        .select(["workflow", "cap", "nextAt"])
        .select((eb) => [
          eb
            .selectFrom("narrowedLanes")
            .select("narrowedLanes.cap")
            .whereRef("narrowedLanes.lane", "=", "lanes.lane")
            .as("narrowedTo"),
          eb
            .selectFrom("tasks")
            .select(({ fn }) => fn.countAll<number>().as("count"))
            .where("deadAt", "is", null)
            .whereRef("tasks.lane", "=", "lanes.lane")
            .where("holder", "is not", null)
            .as("held"),
          eb
            .selectFrom("tasks")
            .select("visibleAt")
            .where("deadAt", "is", null)
            .whereRef("tasks.lane", "=", "lanes.lane")
            .whereRef("tasks.workflow", "=", "lanes.workflow")
            .orderBy("visibleAt")
            .limit(sql.lit(1))
            .as("firstAt"),
        ])
        .where("lanes.lane", "=", lane),
    ),
    /** Of the first lanes the earliest that is in none of these groups, a list in JSON; and how many were looked at. */
    nextOutside: statement<{ workflow: string; full: string; limit: number }>()(({ workflow, full, limit }) =>
      db
        .selectFrom((eb) =>
          eb
            .selectFrom("lanes")
            .select(["laneGroup", "nextAt"])
            .where("workflow", "=", workflow)
            .orderBy("nextAt")
            .limit(limit)
            .as("first"),
        )
        .select((eb) => [
          sql<
            number | null
          >`min(case when ${eb.ref("laneGroup")} not in (select value from json_each(${full}))
            then ${eb.ref("nextAt")} end)`.as("at"),
          eb.fn.countAll<number>().as("looked"),
        ]),
    ),
  };
}

/** How rows of lanes are kept. */
function keptLaneStatements(db: Kysely<Schema>) {
  return {
    open: statement<LaneRow>()(({ lane, workflow, cap, laneGroup, nextAt }) =>
      db
        .insertInto("lanes")
        .values({ lane, workflow, cap, laneGroup, nextAt })
        .onConflict((conflict) => conflict.columns(["lane", "workflow"]).doNothing()),
    ),
    enter: statement<{ lane: string; workflow: string }>()(({ lane, workflow }) =>
      db
        .insertInto("lanes")
        .columns(["lane", "workflow", "cap", "laneGroup", "nextAt"])
        .expression((eb) =>
          eb
            .selectFrom("lanes as l")
            .select(["l.lane", sql<string>`${workflow}`.as("workflow"), "l.cap", "l.laneGroup"])
            .select(sql<number>`0`.as("nextAt"))
            .where("l.lane", "=", lane)
            .limit(sql.lit(1)),
        )
        .onConflict((conflict) => conflict.columns(["lane", "workflow"]).doNothing()),
    ),
    recap: statement<{ lane: string; cap: number }>()(({ lane, cap }) =>
      db.updateTable("lanes").set({ cap }).where("lane", "=", lane).where("cap", "<>", cap),
    ),
    regroup: statement<{ lane: string; laneGroup: string }>()(({ lane, laneGroup }) =>
      db.updateTable("lanes").set({ laneGroup }).where("lane", "=", lane).where("laneGroup", "<>", laneGroup),
    ),
    regroupTasks: statement<{ lane: string; laneGroup: string | null }>()(({ lane, laneGroup }) =>
      db.updateTable("tasks").set({ laneGroup }).where("lane", "=", lane).where("deadAt", "is", null),
    ),
    narrow: statement<NarrowedLaneRow>()(({ lane, cap }) =>
      db
        .insertInto("narrowedLanes")
        .values({ lane, cap })
        .onConflict((conflict) =>
          conflict.column("lane").doUpdateSet({ cap: (eb) => eb.ref("excluded.cap") }),
        ),
    ),
    widen: statement<{ lane: string }>()(({ lane }) =>
      db.deleteFrom("narrowedLanes").where("lane", "=", lane),
    ),
    narrowed: statement<{ lane: string }>()(({ lane }) =>
      db.selectFrom("narrowedLanes").select("cap").where("lane", "=", lane),
    ),
    of: statement<{ lane: string }>()(({ lane }) =>
      db.selectFrom("lanes").selectAll().where("lane", "=", lane),
    ),
    schedule: statement<{ lane: string; workflow: string; nextAt: number }>()(({ lane, workflow, nextAt }) =>
      db.updateTable("lanes").set({ nextAt }).where("lane", "=", lane).where("workflow", "=", workflow),
    ),
    close: statement<{ lane: string; workflow: string }>()(({ lane, workflow }) =>
      db.deleteFrom("lanes").where("lane", "=", lane).where("workflow", "=", workflow),
    ),
  };
}

/** Which lane can give a task, now or next. */
function foundLaneStatements(db: Kysely<Schema>) {
  return {
    due: statement<{ workflow: string; now: number; limit: number }>()(({ workflow, now, limit }) =>
      db
        .selectFrom("lanes")
        .selectAll()
        .where("workflow", "=", workflow)
        .where("nextAt", "<=", now)
        .orderBy("nextAt")
        .limit(limit),
    ),
    dueOfGroup: statement<{ workflow: string; laneGroup: string; now: number; limit: number }>()(
      ({ workflow, laneGroup, now, limit }) =>
        db
          .selectFrom("lanes")
          .selectAll()
          .where("workflow", "=", workflow)
          .where("laneGroup", "=", laneGroup)
          .where("nextAt", "<=", now)
          .orderBy("nextAt")
          .limit(limit),
    ),
    /** The earliest lane of the group after this one: from group to group by one seek each. */
    nextGroup: statement<{ workflow: string; after: string }>()(({ workflow, after }) =>
      db
        .selectFrom("lanes")
        .select(["laneGroup", "nextAt as at"])
        .where("workflow", "=", workflow)
        .where("laneGroup", ">", after)
        .orderBy("laneGroup")
        .orderBy("nextAt")
        .limit(sql.lit(1)),
    ),
    next: statement<{ workflow: string }>()(({ workflow }) =>
      db
        .selectFrom("lanes")
        .select("nextAt as at")
        .where("workflow", "=", workflow)
        .orderBy("nextAt")
        .limit(sql.lit(1)),
    ),
  };
}
