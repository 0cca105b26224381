/** Named leases take the place of those on shards of watches, and of the watch that retention had for one. */
import { type Kysely, sql } from "kysely";
import type { SchemaDialect } from "./dialect.ts";

export async function leases(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  const columns = { name: "text", holder: "text", until: "integer", ms: "integer" } as const;
  await sql.raw(dialect.table("paystateLeases", { columns, key: ["name"] })).execute(db);
  await db.schema.dropTable("watchShards").execute();
  await sql`delete from watches where kind in ('$keep finished', '$keep payments')`.execute(db);
}
