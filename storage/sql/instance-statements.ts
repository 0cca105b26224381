/** The statements on instances, their history and their watches. */
import { type Kysely, sql } from "kysely";
import { columnsOf } from "../row.ts";
import { engineTables } from "../engine-tables.ts";
import type { InstanceListing, InstanceRecord, StepRecord } from "../storage.ts";
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
    step: statement<Required<StepRecord>>()(
      ({ id, after, stamp, steps, workflow, hash, status, snapshot, at }) =>
        db
          .updateTable("instances")
          .set({ stamp, workflow, hash, status, snapshot, updatedAt: at, version: sql`version + ${steps}` })
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

/** One instance. */
function instanceReads(db: Kysely<Schema>) {
  return {
    load: statement<{ id: string }>()(({ id }) =>
      db.selectFrom("instances").selectAll().where("id", "=", id),
    ),
  };
}

/** Instances in pages, by the order that is asked for. */
export function listStatements(db: Kysely<Schema>) {
  const from = () => db.selectFrom("instances").selectAll();
  return {
    id: statement<Listing<"id">>()(({ workflow, status, after, limit }) =>
      from()
        .where("workflow", "=", workflow)
        .where("status", "=", status)
        .where("id", ">", after)
        .orderBy("id")
        .limit(limit),
    ),
    workflow: statement<Listing<"workflow">>()(({ after, limit }) =>
      from().where("workflow", ">", after).orderBy("workflow").limit(limit),
    ),
    newest: statement<Place & { limit: number }>()(({ at, id, limit }) =>
      from()
        .where((eb) => eb(eb.refTuple("createdAt", "id"), "<", eb.tuple(at, id)))
        .orderBy("createdAt", "desc")
        .orderBy("id", "desc")
        .limit(limit),
    ),
    ended: statement<Place & { until: number; limit: number }>()(({ until, at, id, limit }) =>
      from()
        // A literal: only so does the database see that the index holds all of them.
        .where(sql<boolean>`status = 'done'`)
        .where("updatedAt", "<=", until)
        .where((eb) => eb(eb.refTuple("updatedAt", "id"), ">", eb.tuple(at, id)))
        .orderBy("updatedAt")
        .orderBy("id")
        .limit(limit),
    ),
  };
}

type Listing<Order> = Extract<InstanceListing, { readonly order: Order }>;

interface Place {
  at: number;
  id: string;
}

/** What the statement of this listing is given. The first page begins before every time and id. */
export function listingValues(listing: InstanceListing): InstanceListing & Partial<Place> {
  if (listing.order === "newest") {
    const { createdAt: at, id } = listing.after ?? { createdAt: Number.MAX_SAFE_INTEGER, id: "" };
    return { ...listing, at, id };
  }
  if (listing.order === "ended") {
    const { updatedAt: at, id } = listing.after ?? { updatedAt: Number.MIN_SAFE_INTEGER, id: "" };
    return { ...listing, at, id };
  }
  return listing;
}

/** Removing an instance that has ended, with its history. */
function removalStatements(db: Kysely<Schema>) {
  return {
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
    byKind: statement<{ afterKind: string; limit: number }>()(({ afterKind, limit }) =>
      db.selectFrom("watches").selectAll().where("kind", ">", afterKind).orderBy("kind").limit(limit),
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
