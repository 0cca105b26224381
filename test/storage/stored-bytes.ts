/** How many bytes each table and each index takes. */
import Database from "better-sqlite3";
import pg from "pg";
import { quoted } from "../../storage/sql/statement.ts";

/** Where a filled database is. */
type Place = { readonly file: string } | { readonly url: string; readonly schema: string };

/** Bytes of a database, and of its largest parts. */
interface StoredBytes {
  readonly total: number;
  /** Of the largest tables and indexes, by so many orders. */
  of(orders: number): Readonly<Record<string, number>>;
}

interface Part {
  readonly name: string;
  readonly bytes: number;
}

const SHOWN = 40;

export async function storedBytes(place: Place): Promise<StoredBytes> {
  const parts = "file" in place ? partsOfFile(place.file) : await partsOfSchema(place);
  return {
    total: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    of: (orders) =>
      Object.fromEntries(parts.slice(0, SHOWN).map(({ name, bytes }) => [name, Math.round(bytes / orders)])),
  };
}

function partsOfFile(file: string): readonly Part[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .prepare<[], Part>("select name, sum(pgsize) as bytes from dbstat group by name order by 2 desc")
      .all();
  } finally {
    database.close();
  }
}

async function partsOfSchema({
  url,
  schema,
}: {
  readonly url: string;
  readonly schema: string;
}): Promise<readonly Part[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`set search_path = ${quoted(schema)}`);
    const { rows } = await client.query<{ readonly name: string; readonly bytes: string }>(
      `select relname as name, pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) as bytes
        from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'i') order by 2 desc`,
    );
    return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }));
  } finally {
    await client.end();
  }
}
