/** Temporary tables of a host's connection that are named as ours: SQLite finds them before ours, and they end with it. */
import { statement } from "../sql/statement.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import type { Connection } from "./connection.ts";
import { FIXED, installedIn } from "./installed.ts";

const temporary = statement<object, { readonly name: string }>(
  "select name from sqlite_temp_master where type in ('table', 'view')",
);

/** The first that hides one of the engine's tables, or of those that were installed; the file may have none of ours yet. */
export function hiding(connection: Connection): string | undefined {
  const found = connection.all(temporary, {});
  if (found.length === 0) return undefined;
  const ours = [...FIXED, ...installedIn(connection).map((table) => table.name)];
  const lower = new Set(ours.map((name) => name.toLowerCase()));
  return found.find(({ name }) => lower.has(name.toLowerCase()))?.name;
}

/** @throws StorageUnusable with this code and the name. */
export function refuseHiding(connection: Connection, code: "foreign_database" | "other_table"): void {
  const name = hiding(connection);
  if (name === undefined) return;
  throw new StorageUnusable(
    code,
    `this connection has a temporary table "${name}", which hides paystate's own of that name: rename it, or give ` +
      "paystate the path of the file",
  );
}
