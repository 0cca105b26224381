/** The writes of commits to the caller's tables, as the function that carries them out takes them. */
import { fieldsOf } from "../row.ts";
import { type GivenTable, type GroupLimitCheck, valueName } from "../sql/given-table.ts";
import type { GivenTables } from "../sql/given-tables.ts";
import { type GroupTotals, TOTALS } from "../sql/group-totals.ts";
import { postgresSchema, type SchemaDialect } from "../sql/dialect.ts";
import { type AnyRow, type BoundStatement, quoted, type SqlValue, withPlaces } from "../sql/statement.ts";
import type { AnyExpectation, AnyInsert, AnyWrite } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { assertText } from "./text.ts";

const casts: SchemaDialect["types"] = { ...postgresSchema.types, text: "text" };

/** Rows that are only checked are locked in share mode, so that payments of one account need not wait for each other. */
type Strength = "share" | "no key update";

interface OverArray {
  readonly text: string;
  readonly places: readonly string[];
}

/** By table and text: the number of entries is bounded by the number of statements in the code. */
const rewritten = new WeakMap<AnyTable, Map<string, OverArray>>();

/** The writes of one group: each distinct statement is sent once, and rows are locked in one order before the first write. */
export class GroupWrites {
  readonly #statements: string[] = [];
  readonly #tables: GivenTables;
  readonly clock: DatabaseClock;
  readonly #numbers = new Map<string, number>();
  readonly #names = new Set<string>();
  readonly #rows = new Map<string, Map<string, Strength>>();
  /** For tables whose totals are kept: changed rows by their ids, and the groups of new ones, as JSON texts. */
  readonly #places = new Map<string, Set<string>>();

  constructor(tables: GivenTables, clock: DatabaseClock) {
    this.#tables = tables;
    this.clock = clock;
  }

  /** The parts of a group besides its runs: its statements, and the names and rows that are locked before the first item. */
  needs(): Readonly<Record<"rows" | "statements" | "names", readonly unknown[]>> {
    // In this order: the statements that lock the rows are among the statements.
    const rows = this.#locks();
    return { rows, statements: this.#statements, names: [...this.#names] };
  }

  /** By table; behind them the totals that change. */
  #locks(): { readonly statement: number; readonly keys: readonly string[] }[] {
    return [...new Set([...this.#rows.keys(), ...this.#places.keys()])].toSorted().flatMap((name) => {
      const { table, totals } = this.#tables.of(name);
      const rows = [...(this.#rows.get(name) ?? [])];
      const locks = (["share", "no key update"] as const).flatMap((strength) => {
        const keys = rows.filter((each) => each[1] === strength).map(([id]) => id);
        if (keys.length === 0) return [];
        const key = quoted(table.key);
        const text = `select 1 from ${quoted(table.sqlName)} where ${key} = any($1) order by ${key} for ${strength}`;
        return [{ statement: this.#number(text), keys }];
      });
      const places = [...(this.#places.get(name) ?? [])];
      if (totals === null || places.length === 0) return locks;
      return [...locks, { statement: this.#number(lockTotals(table, totals)), keys: places }];
    });
  }

  /** As `paystate_write_@` takes it: numbers of statements, with values. @throws TypeError when it is wrong for its table. */
  prepare(write: AnyWrite): object {
    const given = this.#tables.of(write.table);
    const { table } = given;
    const { text, values, rows, room } = given.write(write);
    this.#lock(given, write, values);
    const { set = {}, unexpired } = "set" in write ? write : {};
    const now = unexpired && { [valueName.now]: this.clock.now(unexpired.now) };
    // A value that is taken refuses the write.
    const mayBeTaken = table.unique.some((field) => field in set);
    return {
      ...this.#run({ text, values: { ...values, ...now } }, table),
      ...(rows !== undefined && { rows }),
      ...(room && { room: this.#room(table, room) }),
      ...(mayBeTaken && { mayBeTaken }),
    };
  }

  #lock({ table, totals }: GivenTable, write: AnyWrite, values: AnyRow): void {
    const { name, key, columns, ordered, group } = table;
    const valuesOf = (fields: readonly string[]): string =>
      JSON.stringify(fields.map((field) => values[field]));
    if ("expectVersion" in write) {
      this.#lockRow(name, write.id, "share");
      // An absent row cannot be locked, but its name can, and an insert of the row locks the name too.
      if (write.expectVersion === 0) this.#names.add(`row/${name}/${write.id}`);
    } else if ("insert" in write) {
      if ("version" in columns) this.#names.add(`row/${name}/${String(values[key])}`);
      // Numbers of rows are drawn before their commit, so one that commits late would stand before what was read already.
      if (ordered !== null) this.#names.add(`order/${name}/${valuesOf(ordered)}`);
      if (write.atMost !== undefined) this.#names.add(`group/${name}/${valuesOf(group?.by ?? [])}`);
      if (totals !== null) this.#lockTotal(name, totals.placeOf(values));
    } else {
      const id = idOf(write, String(values[key]));
      this.#lockRow(name, id, "no key update");
      const isCounted = !("set" in write) || totals?.fields.some((field) => field in write.set) === true;
      if (totals !== null && isCounted) this.#lockTotal(name, JSON.stringify(id));
    }
  }

  #room(table: AnyTable, { forget, counted, isSum, plus, most }: GroupLimitCheck) {
    const { text, places } = overArray(counted, table);
    const over = forget === null ? null : overArray(forget, table);
    const measure = `select ${isSum ? "low + middle * 1e9::numeric + high * 1e18::numeric" : "count"} from (${text}) as total`;
    return {
      values: valuesIn({ text, places }, counted.values),
      ...(over && forget && { forget: this.#number(over.text), forgotten: valuesIn(over, forget.values) }),
      ...(most !== null && { measure: this.#number(measure), plus: String(plus), most: String(most) }),
    };
  }

  #run(bound: BoundStatement, table: AnyTable) {
    const run = overArray(bound, table);
    return { statement: this.#number(run.text), values: valuesIn(run, bound.values) };
  }

  #lockTotal(table: string, place: string): void {
    const places = this.#places.get(table) ?? new Set<string>();
    this.#places.set(table, places.add(place));
  }

  #lockRow(table: string, key: string, strength: Strength): void {
    const keys = this.#rows.get(table) ?? new Map<string, Strength>();
    this.#rows.set(table, keys);
    if (strength === "no key update" || !keys.has(key)) keys.set(key, strength);
  }

  #number(text: string): number {
    const known = this.#numbers.get(text) ?? this.#statements.push(text) - 1;
    this.#numbers.set(text, known);
    return known;
  }
}

/** The row that a write changes; `own` is the key of one that is put. */
function idOf(write: Exclude<AnyWrite, AnyInsert | AnyExpectation>, own: string): string {
  if ("put" in write) return own;
  if ("unput" in write) return write.unput;
  return "set" in write ? write.id : write.remove;
}

/** Takes the totals of rows, in one order: triggers would take them row by row, and two groups might each wait for the other. */
const lockTotals = ({ sqlName, key }: AnyTable, totals: GroupTotals): string => {
  const total = quoted(TOTALS);
  return `with place as (
      select distinct p from (select each::jsonb as one from unnest($1) as each) asked cross join lateral (
        select one::text as p where jsonb_typeof(one) = 'array'
        union all select ${totals.place("t.")} from ${quoted(sqlName)} t
          where jsonb_typeof(one) = 'string' and t.${quoted(key)} = one #>> '{}') found
    )
    insert into ${total} select '${sqlName}', (p::jsonb - -1)::text, (p::jsonb ->> -1)::bigint, 0, 0, 0, 0 from place order by 2, 3
      on conflict ("table", "group", hour) do update set rows = ${total}.rows`;
};

function overArray({ text }: BoundStatement, table: AnyTable): OverArray {
  const known = rewritten.get(table) ?? new Map<string, OverArray>();
  rewritten.set(table, known);
  const found = known.get(text);
  if (found !== undefined) return found;
  const places: string[] = [];
  const over = {
    text: withPlaces(text, (name) => `($1)[${places.push(name)}]::${castOf(table, name)}`),
    places,
  };
  known.set(text, over);
  return over;
}

const valuesIn = ({ places }: OverArray, values: AnyRow): readonly (string | null)[] =>
  places.map((name) => asText(values[name] ?? null));

const BIGINTS: ReadonlySet<string> = new Set([valueName.version, valueName.since, valueName.now]);

/** The type of a value by its name: the type of a column, or of a further name in statements. */
function castOf(table: AnyTable, name: string): string {
  const column = fieldsOf(table).find((field) => field.name === name);
  if (column !== undefined) return casts[column.kind];
  return BIGINTS.has(name) ? "bigint" : "text";
}

function asText(value: SqlValue): string | null {
  if (value === null) return null;
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return `\\x${Buffer.from(value).toString("hex")}`;
  assertText(value);
  return value;
}
