/**
 * Gives every step a stamp, and every instance a life, the stamp of its first step. Existing instances get stamps that
 * no step makes: the life is random, and the stamp of a step is the life with the step's number. The tables are made
 * anew so that older programs fail: their steps would leave the stamp unchanged.
 */
import type { Column } from "../../table.ts";
import { tables } from "./0001-engine.ts";
import type { SchemaDialect } from "./dialect.ts";

/** Long columns come last: a database reads past them to find the rest. */
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

const stampOf = (life: string, version: string): string =>
  `case when ${version} = 1 then ${life} else ${life} || '.' || ${version} end`;

export const stamps = ({ chance, parentOf, remade }: SchemaDialect): readonly string[] => [
  ...remade("{@instances}", {
    columns: instances,
    key: ["id"],
    rows: `with drawn as materialized (select *, ${chance} as life from {@instances})
      select id, workflow, hash, version, ${stampOf("life", "version")}, life, ${parentOf("snapshot")}, status, snapshot,
        "createdAt", "updatedAt" from drawn`,
  }),
  ...remade("{@history}", {
    columns: { ...tables["history"], stamp: "text" },
    key: ["instance", "version"],
    rows: `select h.*, coalesce(${stampOf("i.life", "h.version")}, '') from {@history} h left join {@instances} i on i.id = h.instance`,
  }),
  ...remade("{@watches}", {
    columns: { ...tables["watches"], life: "text" },
    key: ["kind", "key", "instance"],
    rows: "select w.*, coalesce(i.life, '') from {@watches} w left join {@instances} i on i.id = w.instance",
  }),
  "create index {@watches_by_kind_shard_key} on {@watches} (kind, shard, key)",
  "create index {@watches_by_instance_kind_key} on {@watches} (instance, kind, key)",
  "create index {@instances_by_workflow_status_id} on {@instances} (workflow, status, id)",
  `create index "{@instances_by_createdAt_id}" on {@instances} ("createdAt", id)`,
  `create index {@instances_finished} on {@instances} ("updatedAt", id) where status = 'done'`,
  "create index {@instances_children} on {@instances} (parent) where parent is not null and status = 'active'",
];
