/** The statements on instances, their history and their watches. */
import { type Kysely, sql } from "kysely";
import { columnsOf } from "../row.ts";
import { engineTables } from "../engine-tables.ts";
import type { InstancePage, InstanceRecord, StepRecord } from "../storage.ts";
import type { FinishedValues } from "./finished-values.ts";
import type { Schema } from "./schema.ts";
import { pick, statement } from "./statement.ts";

export function instanceStatements(db: Kysely<Schema>) {
  return { ...stepStatements(db), ...instanceReads(db), ...removalStatements(db) };
}

/** What commits do with instances, and the history of their steps. */
function stepStatements(db: Kysely<Schema>) {
  return {
    start: statement<Schema["instances"]>()((row) =>
      db
        .insertInto("instances")
        .values(pick(row, columnsOf(engineTables.instances)))
        .onConflict((conflict) => conflict.doNothing()),
    ),
    step: statement<StepRecord>()(({ id, after, stamp, workflow, hash, status, snapshot, at }) =>
      db
        .updateTable("instances")
        .set({ stamp, workflow, hash, status, snapshot, updatedAt: at, version: sql`version + 1` })
        .where("id", "=", id)
        .where("stamp", "=", after),
    ),
    record: statement<Schema["history"]>()((row) =>
      db.insertInto("history").values(pick(row, columnsOf(engineTables.history))),
    ),
    history: statement<{ instance: string; after: number; limit: number }>()(({ instance, after, limit }) =>
      db
        .selectFrom("history")
        .selectAll()
        .where("instance", "=", instance)
        .where("version", ">", after)
        .orderBy("version")
        .limit(limit),
    ),
  };
}

/** Instances, by id and in pages. */
function instanceReads(db: Kysely<Schema>) {
  return {
    load: statement<{ id: string }>()(({ id }) =>
      db.selectFrom("instances").selectAll().where("id", "=", id),
    ),
    /** One seek from workflow to workflow, however many instances lie between them. */
    workflowAfter: statement<{ after: string }>()(({ after }) =>
      db
        .selectFrom("instances")
        .select("workflow")
        .where("workflow", ">", after)
        .orderBy("workflow")
        .limit(sql.lit(1)),
    ),
    page: statement<InstancePage>()(({ workflow, status, after, limit }) =>
      db
        .selectFrom("instances")
        .selectAll()
        .where("workflow", "=", workflow)
        .where("status", "=", status)
        .where("id", ">", after)
        .orderBy("id")
        .limit(limit),
    ),
    newest: statement<{ createdAt: number; id: string; limit: number }>()(({ createdAt, id, limit }) =>
      db
        .selectFrom("instances")
        .selectAll()
        .where((eb) => eb(eb.refTuple("createdAt", "id"), "<", eb.tuple(createdAt, id)))
        .orderBy("createdAt", "desc")
        .orderBy("id", "desc")
        .limit(limit),
    ),
  };
}

/** Removing an instance that has ended, with its history, and finding those that are old enough. */
function removalStatements(db: Kysely<Schema>) {
  return {
    finished: statement<FinishedValues>()(({ until, updatedAt, id, limit }) =>
      db
        .selectFrom("instances")
        .selectAll()
        // A literal: only so does the database see that the index holds all of them.
        .where(sql<boolean>`status = 'done'`)
        .where("updatedAt", "<=", until)
        .where((eb) => eb(eb.refTuple("updatedAt", "id"), ">", eb.tuple(updatedAt, id)))
        .orderBy("updatedAt")
        .orderBy("id")
        .limit(limit),
    ),
    remove: statement<Pick<InstanceRecord, "id" | "life">>()(({ id, life }) =>
      db
        .deleteFrom("instances")
        .where("id", "=", id)
        .where("life", "=", life)
        .where(sql<boolean>`status = 'done'`)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("instances as child")
                .select("child.id")
                .whereRef("child.parent", "=", "instances.id")
                .where(sql<boolean>`child.status = 'active'`),
            ),
          ),
        )
        .where((eb) =>
          eb.not(
            eb.exists(
              eb.selectFrom("tasks").select("tasks.id").whereRef("tasks.instance", "=", "instances.id"),
            ),
          ),
        )
        .where((eb) =>
          eb.not(
            eb.exists(
              eb.selectFrom("watches").select("key").whereRef("watches.instance", "=", "instances.id"),
            ),
          ),
        ),
    ),
    forget: statement<{ id: string }>()(({ id }) => db.deleteFrom("history").where("instance", "=", id)),
  };
}

/** What is watched. */
export function watchStatements(db: Kysely<Schema>) {
  return {
    watch: statement<Schema["watches"]>()((row) =>
      db
        .insertInto("watches")
        .values(pick(row, columnsOf(engineTables.watches)))
        .onConflict((conflict) =>
          conflict
            .columns(["kind", "key", "instance"])
            .doUpdateSet({ life: row.life, workflow: row.workflow, shard: row.shard }),
        ),
    ),
    unwatch: statement<{ kind: string; key: string; instance: string }>()(({ kind, key, instance }) =>
      db
        .deleteFrom("watches")
        .where("kind", "=", kind)
        .where("key", "=", key)
        .where("instance", "=", instance),
    ),
    inShard: statement<{ kind: string; shard: number }>()(({ kind, shard }) =>
      db.selectFrom("watches").selectAll().where("kind", "=", kind).where("shard", "=", shard).orderBy("key"),
    ),
    ofInstance: statement<{ instance: string; limit: number }>()(({ instance, limit }) =>
      db
        .selectFrom("watches")
        .selectAll()
        .where("instance", "=", instance)
        .orderBy("kind")
        .orderBy("key")
        .limit(limit),
    ),
    /** One seek from kind to kind, however many watches lie between them. */
    kindAfter: statement<{ after: string }>()(({ after }) =>
      db.selectFrom("watches").select("kind").where("kind", ">", after).orderBy("kind").limit(sql.lit(1)),
    ),
  };
}

/** Who holds which names. */
export function leaseStatements(db: Kysely<Schema>) {
  return {
    named: statement<{ name: string }>()(({ name }) =>
      db.selectFrom("paystateLeases").selectAll().where("name", "=", name),
    ),
    put: statement<Schema["paystateLeases"]>()((row) =>
      db
        .insertInto("paystateLeases")
        .values(pick(row, columnsOf(engineTables.paystateLeases)))
        .onConflict((conflict) =>
          conflict.column("name").doUpdateSet({ holder: row.holder, until: row.until, ms: row.ms }),
        ),
    ),
    remove: statement<{ name: string }>()(({ name }) =>
      db.deleteFrom("paystateLeases").where("name", "=", name),
    ),
  };
}
