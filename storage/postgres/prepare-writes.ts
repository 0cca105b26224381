/** The writes of commits to the caller's tables, as the function that carries them out takes them. */
import { fieldsOf } from "../row.ts";
import { type GroupLimitCheck, valueName } from "../sql/given-table.ts";
import type { GivenTables } from "../sql/given-tables.ts";
import { postgresSchema, type SchemaDialect } from "../sql/migrations/dialect.ts";
import { type AnyRow, type BoundStatement, type SqlValue, withPlaces } from "../sql/statement.ts";
import type { AnyWrite } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { assertText } from "./text.ts";

const casts: SchemaDialect["types"] = { ...postgresSchema.types, text: "text" };

/**
 * Rows that are only checked are locked in share mode, so that payments of one account need not wait for each other.
 */
type Strength = "share" | "no key update";

/** A statement over one array of texts, and the values that are in the array. */
interface OverArray {
  readonly text: string;
  readonly places: readonly string[];
}

/** By table and text: the number of entries is bounded by the number of statements in the code. */
const rewritten = new WeakMap<AnyTable, Map<string, OverArray>>();

/**
 * The writes of one group. Every distinct statement is sent once, and rows are locked in a fixed order before the first
 * write.
 */
export class GroupWrites {
  readonly statements: string[] = [];
  readonly #tables: GivenTables;
  readonly #clock: DatabaseClock;
  readonly #numbers = new Map<string, number>();
  readonly #names = new Set<string>();
  readonly #rows = new Map<string, Map<string, Strength>>();

  constructor(tables: GivenTables, clock: DatabaseClock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  /** Names to lock for things without a row of their own. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** The rows to lock before the first item, by table, and the locking statement. */
  locks(): { readonly statement: number; readonly keys: readonly string[] }[] {
    return [...this.#rows.keys()].toSorted().flatMap((name) => {
      const { key } = this.#tables.of(name).table;
      return (["share", "no key update"] as const).flatMap((strength) => {
        const rows = [...(this.#rows.get(name) ?? [])].filter((each) => each[1] === strength);
        if (rows.length === 0) return [];
        const text = `select 1 from "${name}" where "${key}" = any($1) order by "${key}" for ${strength}`;
        return [{ statement: this.#number(text), keys: rows.map(([id]) => id) }];
      });
    });
  }

  /**
   * As `paystate_write_@` takes it: statements by their numbers, with their values.
   * @throws TypeError when the write is wrong for its table.
   */
  prepare(write: AnyWrite): object {
    const given = this.#tables.of(write.table);
    const { table } = given;
    const { bound, rows, room } = given.write(write);
    this.#lock(table, write, bound.values);
    if ("insert" in write) {
      return { ...this.#run(bound, table), rows, ...(room && { room: this.#room(table, room) }) };
    }
    if (!("set" in write)) return { ...this.#run(bound, table), rows };
    const { unexpired } = write;
    const now = unexpired === undefined ? null : this.#clock.now(unexpired.now);
    const run = this.#run({ ...bound, values: { ...bound.values, [valueName.now]: now } }, table);
    const isUnique = table.unique.some((field) => field in write.set);
    // A value that is taken refuses the write.
    return { ...run, rows, ...(isUnique && { mayBeTaken: true }) };
  }

  #lock(table: AnyTable, write: AnyWrite, values: AnyRow): void {
    const { name, key, columns, ordered, group } = table;
    const valuesOf = (fields: readonly string[]): string =>
      JSON.stringify(fields.map((field) => values[field]));
    if ("set" in write) this.#lockRow(name, write.id, "no key update");
    else if ("remove" in write) this.#lockRow(name, write.remove, "no key update");
    else if ("expectVersion" in write) {
      this.#lockRow(name, write.id, "share");
      // An absent row cannot be locked, but its name can, and an insert of the row locks the name too.
      if (write.expectVersion === 0) this.#names.add(`row/${name}/${write.id}`);
    } else {
      if ("version" in columns) this.#names.add(`row/${name}/${String(values[key])}`);
      // Numbers of rows are drawn before their commit, so one that commits late would stand before what was read already.
      if (ordered !== null) this.#names.add(`order/${name}/${valuesOf(ordered)}`);
      if (write.atMost !== undefined) this.#names.add(`group/${name}/${valuesOf(group?.by ?? [])}`);
    }
  }

  #room(table: AnyTable, { forget, counted, plus, most }: GroupLimitCheck) {
    const isSum = "parts" in counted;
    const { text, places } = overArray(isSum ? counted.parts : counted, table);
    const { values } = isSum ? counted.parts : counted;
    const measure = isSum ? `select coalesce(sum("part"), 0) from (${text}) as parts` : text;
    return {
      values: valuesIn({ text, places }, values),
      // It names the same values in the same order.
      ...(forget && { forget: this.#number(overArray(forget, table).text) }),
      ...(most !== null && { measure: this.#number(measure), plus: String(plus), most: String(most) }),
    };
  }

  #run(bound: BoundStatement, table: AnyTable) {
    const run = overArray(bound, table);
    return { statement: this.#number(run.text), values: valuesIn(run, bound.values) };
  }

  #lockRow(table: string, key: string, strength: Strength): void {
    const keys = this.#rows.get(table) ?? new Map<string, Strength>();
    this.#rows.set(table, keys);
    if (strength === "no key update" || !keys.has(key)) keys.set(key, strength);
  }

  #number(text: string): number {
    const known = this.#numbers.get(text) ?? this.statements.push(text) - 1;
    this.#numbers.set(text, known);
    return known;
  }
}

function overArray({ statement: { text } }: BoundStatement, table: AnyTable): OverArray {
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
