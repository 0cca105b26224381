/**
 * Each step has a stamp, each instance the stamp of its start, its life. What is there gets stamps that no step makes: the
 * life is drawn by chance, and the steps are its life with their number. Tables are made anew, for a program of before has to
 * fail at them: its steps would leave the stamp as it was.
 */
import { type Kysely, sql } from "kysely";
import type { Column } from "../../table.ts";
import type { SchemaDialect } from "./dialect.ts";

const instances: Readonly<Record<string, Column>> = {
  id: "text",
  workflow: "text",
  hash: "text",
  version: "integer",
  stamp: "text",
  life: "text",
  parent: "text?",
  status: "text",
  snapshot: "text",
  createdAt: "integer",
  updatedAt: "integer",
};

const history: Readonly<Record<string, Column>> = {
  instance: "text",
  version: "integer",
  stamp: "text",
  at: "integer",
  event: "text",
  value: "text",
  cause: "text?",
};

const watches: Readonly<Record<string, Column>> = {
  kind: "text",
  key: "text",
  instance: "text",
  life: "text",
  workflow: "text",
  shard: "integer",
};

/** The indexes of tables that are made anew, as the first schema has them. */
const lookups: readonly (readonly [table: string, ...columns: string[]])[] = [
  ["watches", "kind", "shard", "key"],
  ["watches", "instance", "kind", "key"],
  ["instances", "workflow", "status", "id"],
  ["instances", "createdAt", "id"],
];

const stampOf = (life: string, version: string) =>
  sql`case when ${sql.ref(version)} = 1 then ${sql.ref(life)} else ${sql.ref(life)} || '.' || ${sql.ref(version)} end`;

export async function stamps(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  await dialect.remade(db, "instances", {
    columns: instances,
    key: ["id"],
    rows: sql`with drawn as materialized (select *, ${dialect.chance} as life from instances)
      select id, workflow, hash, version, ${stampOf("life", "version")}, life, ${dialect.parentOf("snapshot")}, status,
        snapshot, ${sql.ref("createdAt")}, ${sql.ref("updatedAt")} from drawn`,
  });
  await dialect.remade(db, "history", {
    columns: history,
    key: ["instance", "version"],
    rows: sql`select h.instance, h.version, coalesce(${stampOf("i.life", "h.version")}, ''), h.at, h.event, h.value, h.cause
      from history h left join instances i on i.id = h.instance`,
  });
  await dialect.remade(db, "watches", {
    columns: watches,
    key: ["kind", "key", "instance"],
    rows: sql`select w.kind, w.key, w.instance, coalesce(i.life, ''), w.workflow, w.shard
      from watches w left join instances i on i.id = w.instance`,
  });
  for (const [table, ...columns] of lookups) {
    await db.schema
      .createIndex(`${table}_by_${columns.join("_")}`)
      .on(table)
      .columns(columns)
      .execute();
  }
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on("instances").columns(columns);
  await index("instances_finished", ["updatedAt", "id"])
    .where(sql<boolean>`status = 'done'`)
    .execute();
  await index("instances_children", ["parent"])
    .where(sql<boolean>`parent is not null and status = 'active'`)
    .execute();
}
