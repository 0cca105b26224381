/** The statements on the tables of the payment service, made from the description of each table. */
import type { Kysely } from "kysely";
import { sql } from "kysely";
import { columnsOf } from "../row.ts";
import type { Table } from "../tables.ts";
import type { SqlValue } from "./schema.ts";
import { pick, type Statement, statement } from "./statement.ts";

/** Any of the tables: what it holds is known to its description, not to the compiler. */
export type AnyRow = Record<string, SqlValue>;
export type AnyTable = Table<Readonly<Record<string, unknown>>>;
export type AnySchema = Record<string, AnyRow>;

export interface DomainStatements {
  readonly insert: Statement<AnyRow, unknown>;
  readonly get: Statement<{ id: string }, AnyRow>;
  /** How many rows of the group there are; and for a window, how to drop those that have left it. */
  readonly count: Statement<AnyRow, { count: number }> | null;
  readonly forget: Statement<AnyRow, unknown> | null;
  /** What the rows of the group say of the field that is summed. */
  readonly parts: Statement<AnyRow, { part: string }> | null;
}

export function domainStatements(db: Kysely<AnySchema>, name: string, table: AnyTable): DomainStatements {
  const insert = statement<AnyRow>()((row) =>
    db
      .insertInto(name)
      .values(pick(row, columnsOf(table)))
      .onConflict((conflict) => conflict.doNothing()),
  );
  const get = statement<{ id: string }>()(({ id }) => db.selectFrom(name).selectAll().where("id", "=", id));
  return { insert, get, ...groupStatements(db, name, table) };
}

function groupStatements(
  db: Kysely<AnySchema>,
  name: string,
  { group }: AnyTable,
): Pick<DomainStatements, "count" | "forget" | "parts"> {
  if (group === undefined) return { count: null, forget: null, parts: null };
  const isMember = (row: AnyRow) =>
    sql.join(
      group.by.map((field) => sql`${sql.ref(field)} = ${row[field]}`),
      sql` and `,
    );
  const counted = (row: AnyRow) =>
    "open" in group ? sql`${sql.ref(group.open)} is null` : sql`${sql.ref(group.since)} > ${row["since"]}`;
  const count = statement<AnyRow>()((row) =>
    db
      .selectFrom(name)
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where(sql<boolean>`${isMember(row)} and ${counted(row)}`),
  );
  const { sum } = group;
  const parts =
    sum === undefined
      ? null
      : statement<AnyRow>()((row) =>
          db
            .selectFrom(name)
            .select(sql<string>`${sql.ref(sum)}`.as("part"))
            .where(sql<boolean>`${isMember(row)} and ${counted(row)}`),
        );
  if ("open" in group) return { count, forget: null, parts };
  const forget = statement<AnyRow>()((row) =>
    db.deleteFrom(name).where(sql<boolean>`${isMember(row)} and ${sql.ref(group.since)} <= ${row["since"]}`),
  );
  return { count, forget, parts };
}

/** Sets these fields of one row; its version grows where it has one, and is compared where one is expected. */
export function updateStatement(
  db: Kysely<AnySchema>,
  name: string,
  fields: readonly string[],
  versioned: { readonly grows: boolean; readonly expected: boolean },
): Statement<AnyRow, unknown> {
  return statement<AnyRow>()((row) => {
    const version = versioned.grows ? { version: sql<number>`version + 1` } : {};
    // A row of a table without versions may be touched without a change, only to see that it is there.
    const set = { id: sql<string>`id`, ...pick(row, fields), ...version };
    const update = db
      .updateTable(name)
      .set(set)
      .where("id", "=", row["id"] ?? null);
    return versioned.expected ? update.where("version", "=", row["expectedVersion"] ?? null) : update;
  });
}
