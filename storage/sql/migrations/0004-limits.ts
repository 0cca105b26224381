/** Limits by key in place of lanes: a lane is the last key of a task, its group the first. What waits asks for room once it is due. */
import { type Kysely, sql } from "kysely";
import type { SchemaDialect } from "./dialect.ts";

/** How many tasks of a group of lanes may have room from now on. */
const ROOM_OF_GROUP = 8;

export async function limits(db: Kysely<unknown>, { types }: SchemaDialect): Promise<void> {
  const added = {
    firstKey: "text",
    firstRoom: "integer",
    lastKey: "text",
    lastRoom: "integer",
    admission: "text",
  };
  for (const [name, kind] of Object.entries(added)) {
    await db.schema
      .alterTable("tasks")
      .addColumn(name, sql.raw(types[kind as "text" | "integer"]))
      .execute();
  }
  await sql`update tasks set "firstKey" = coalesce("laneGroup", lane),
      "firstRoom" = case when "laneGroup" is null then cap else ${sql.lit(ROOM_OF_GROUP)} end,
      "lastKey" = lane, "lastRoom" = cap, admission = case when holder is null then 'paused' else 'admitted' end
    where lane is not null and kind in ('effect', 'invocation')`.execute(db);
  // Those that wait keep each other's company; new ones wait for them.
  await sql`update tasks set "firstKey" = 'message to ' || instance, "firstRoom" = 1, "lastKey" = 'message to ' || instance,
      "lastRoom" = 1, admission = 'admitted'
    where kind = 'message' and name not in ('$start', 'xstate.stop')`.execute(db);
  for (const index of ["tasks_steps", "tasks_free", "tasks_laned", "tasks_held"]) {
    await db.schema.dropIndex(index).execute();
  }
  for (const column of ["lane", "cap", "laneGroup"]) {
    await db.schema.alterTable("tasks").dropColumn(column).execute();
  }
  for (const table of ["lanes", "narrowedLanes"]) await db.schema.dropTable(table).execute();
  await createIndexes(db);
}

/** A claim seeks in the first three, one for each queue; the last has the rooms of each key. The dead are in none of them. */
async function createIndexes(db: Kysely<unknown>): Promise<void> {
  const alive = sql<boolean>`${sql.ref("deadAt")} is null`;
  const index = (name: string, columns: string[]) => db.schema.createIndex(name).on("tasks").columns(columns);
  await index("tasks_steps", ["workflow", "visibleAt", "seq"])
    .where(
      sql<boolean>`${alive} and kind in ('timer', 'message') and (admission is null or admission = 'admitted')`,
    )
    .execute();
  await index("tasks_free", ["workflow", "visibleAt", "seq"])
    .where(sql<boolean>`${alive} and kind in ('effect', 'invocation') and "firstKey" is null`)
    .execute();
  await index("tasks_limited", ["workflow", "admission", "visibleAt", "seq"])
    .where(sql<boolean>`${alive} and kind in ('effect', 'invocation') and "firstKey" is not null`)
    .execute();
  await index("tasks_rooms", ["firstKey", "admission", "lastKey", "seq"])
    .where(sql<boolean>`${alive} and "firstKey" is not null`)
    .execute();
}
