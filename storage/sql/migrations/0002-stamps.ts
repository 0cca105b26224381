/**
 * Each step has a stamp, each instance the stamp of its start, its life. What is there gets stamps that no step makes: the
 * life is drawn by chance, and the steps are its life with their number. Tables are made anew, for a program of before has to
 * fail at them: its steps would leave the stamp as it was.
 */
import type { Column } from "../../table.ts";
import { listed } from "../statement.ts";
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

const stampOf = (life: string, version: string): string =>
  `case when ${version} = 1 then ${life} else ${life} || '.' || ${version} end`;

export const stamps = (dialect: SchemaDialect): readonly string[] => [
  ...dialect.remade("instances", {
    columns: instances,
    key: ["id"],
    rows: `with drawn as materialized (select *, ${dialect.chance} as life from instances)
      select id, workflow, hash, version, ${stampOf("life", "version")}, life, ${dialect.parentOf("snapshot")}, status,
        snapshot, "createdAt", "updatedAt" from drawn`,
  }),
  ...dialect.remade("history", {
    columns: history,
    key: ["instance", "version"],
    rows: `select h.instance, h.version, coalesce(${stampOf("i.life", "h.version")}, ''), h.at, h.event, h.value, h.cause
      from history h left join instances i on i.id = h.instance`,
  }),
  ...dialect.remade("watches", {
    columns: watches,
    key: ["kind", "key", "instance"],
    rows: `select w.kind, w.key, w.instance, coalesce(i.life, ''), w.workflow, w.shard
      from watches w left join instances i on i.id = w.instance`,
  }),
  ...lookups.map(
    ([table, ...columns]) =>
      `create index "${table}_by_${columns.join("_")}" on ${table} (${listed(columns)})`,
  ),
  `create index instances_finished on instances ("updatedAt", id) where status = 'done'`,
  `create index instances_children on instances (parent) where parent is not null and status = 'active'`,
];
