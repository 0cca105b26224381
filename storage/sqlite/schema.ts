/** The schema of a database file, and the names that the engine's tables have in it. */
import { MIGRATIONS_TABLE, PREFIXED } from "../sql/migrations/index.ts";
import {
  type NameOf,
  plainName,
  prefixedName,
  type Statement,
  type StatementReader,
  withPlaces,
} from "../sql/statement.ts";
import type { SqliteDatabase } from "./driver.ts";

/** Whether any paystate has written to the file, be it an older one. */
export const isWritten = (database: SqliteDatabase): boolean =>
  database
    .prepare("select 1 from main.sqlite_master where type = 'table' and name = ?")
    .get(MIGRATIONS_TABLE) !== undefined;

/** Carries out statements on the schema of a file. */
export const schemaIn =
  (database: SqliteDatabase): StatementReader =>
  async <Values extends object, Row>({ text }: Statement<Values, Row>, values: Values): Promise<Row[]> => {
    const given: unknown[] = [];
    const place = (name: string): string => {
      given.push((values as Readonly<Record<string, unknown>>)[name]);
      return "?";
    };
    const prepared = database.prepare(withPlaces(text, place));
    if (prepared.reader) return prepared.all(given) as Row[];
    prepared.run(given);
    return [];
  };

/**
 * What the file calls the engine's tables, or will, as whoever makes them notes. Names stay for ever: older programs may work
 * beside this one.
 */
export function nameOfIn(database: SqliteDatabase): NameOf {
  if (!isWritten(database)) return prefixedName;
  const noted = database.prepare(`select 1 from main."${MIGRATIONS_TABLE}" where name = ?`).get(PREFIXED);
  return noted === undefined ? plainName : prefixedName;
}
