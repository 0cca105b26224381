/**
 * Totals of groups: how many rows of a group count, and the sum of their amounts. Triggers keep the totals in the
 * transaction of each change, whoever makes the change: a limit costs as much beside ten rows as beside a million.
 */
import { fieldNamed } from "../query.ts";
import type { AnyTable, GroupOptions } from "../table.ts";
import { type AnyRow, quoted } from "./statement.ts";

/**
 * The table of totals. A group whose rows count while a field is null has one row, a group of a window one for each hour.
 * An amount may be larger than SQLite's integers, so each sum is kept in three parts, of nine digits of each amount.
 */
export const TOTALS = "paystateTotals";

/** Sums of the last nine digits, those before, and those before these. */
const DIGITS = ["low", "middle", "high"] as const;

export const totalsTable = {
  columns: {
    table: "text",
    group: "text",
    hour: "integer",
    rows: "integer",
    low: "integer",
    middle: "integer",
    high: "integer",
  },
  key: ["table", "group", "hour"],
} as const;

const HOUR_MS = 3_600_000;
/** The hour of a group that has no window. */
const NO_HOUR = "-1";

/** The hour of a time. Databases divide towards nothing, and the two hours around 1970 would be one. */
const hourOf = (time: string): string =>
  `(case when ${time} < 0 then (${time} + 1) / ${HOUR_MS} - 1 else ${time} / ${HOUR_MS} end)`;

/** The parts of totals that differ by database. */
export interface TotalsDialect {
  /** Values as the text of a JSON array. */
  readonly list: (values: readonly string[]) => string;
  /** Nine digits of an amount, behind the last `skipped` ones. */
  readonly digits: (amount: string, skipped: number) => string;
}

/** The sum of parts, as a database answers it. */
export type TotalRow = { readonly count: number } & Partial<
  Readonly<Record<(typeof DIGITS)[number], number>>
>;

/** The sum in one number. */
export const totalIn = ({ low = 0, middle = 0, high = 0 }: TotalRow): bigint =>
  BigInt(low) + BigInt(middle) * 10n ** 9n + BigInt(high) * 10n ** 18n;

/** Names the value of a field of the group, as the place of a statement. */
type MemberPlace = (field: string) => string;

/** The totals of one table. */
export class GroupTotals {
  readonly table: AnyTable;
  readonly #group: GroupOptions<string>;
  readonly #dialect: TotalsDialect;

  constructor(table: AnyTable, group: GroupOptions<string>, dialect: TotalsDialect) {
    this.table = table;
    this.#group = group;
    this.#dialect = dialect;
  }

  /** Sums what is counted of one group into one row, by parts. */
  sum(member: MemberPlace, since: string | null): string {
    const sums = ["count", ...DIGITS].map((each) => `cast(coalesce(sum(${each}), 0) as bigint) as ${each}`);
    return `select ${sums.join(", ")} from (${this.#counted(member, since)}) as parts`;
  }

  /** Its kept total; of a window that begins at `since` the hours behind the hour of `since`, and the rows of that hour. */
  #counted(member: MemberPlace, since: string | null): string {
    const kept = `select rows as count, low, middle, high from ${quoted(TOTALS)} where ${this.#isTotalOf(member)}`;
    if ("open" in this.#group) return `${kept} and hour = ${NO_HOUR}`;
    if (since === null) return kept;
    const time = quoted(this.#group.since);
    const begins = `cast(${since} as bigint)`;
    const hour = hourOf(begins);
    const begun = `${time} > ${begins} and ${time} < (${hour} + 1) * ${HOUR_MS}`;
    const rows = `select 1, ${this.#digits("").join(", ")} from ${quoted(this.table.sqlName)}`;
    return `${kept} and hour > ${hour} union all ${rows} where ${membersOf(this.table, this.#group, member)} and ${begun}`;
  }

  /** Counts the totals of one group anew, or of every group, from its rows: the old totals go, and others are made. */
  counting(member: MemberPlace | null): readonly [remove: string, add: string] {
    const isTotal = member === null ? this.#isOfTable : this.#isTotalOf(member);
    const isRow = member === null ? "true" : membersOf(this.table, this.#group, member);
    const sums = this.#digits("").map((digits) => `sum(${digits})`);
    const values = [this.#named, this.#dialect.list(this.#by("")), this.#hour(""), "count(*)", ...sums];
    return [
      `delete from ${quoted(TOTALS)} where ${isTotal}`,
      `insert into ${quoted(TOTALS)} (${COLUMNS}) select ${values.join(", ")} from ${quoted(this.table.sqlName)}
      where ${isRow} and ${this.counts("")} group by 2, 3`,
    ];
  }

  /** The group and the hour of a row, as the text of one JSON array: an expression. */
  place(row: string): string {
    return this.#dialect.list([...this.#by(row), this.#hour(row)]);
  }

  /** The same for the values of a row. */
  placeOf(values: AnyRow): string {
    const group = this.#group;
    const hour = "open" in group ? NO_HOUR : Math.floor(Number(values[group.since]) / HOUR_MS);
    return JSON.stringify([...group.by.map((field) => values[field]), Number(hour)]);
  }

  /** The fields whose change moves a row from one total to another. */
  get fields(): readonly string[] {
    const group = this.#group;
    const { by, sum } = group;
    return [...by, "open" in group ? group.open : group.since, ...(sum === undefined ? [] : [sum])];
  }

  /** Whether a row counts. */
  counts(row: string): string {
    return "open" in this.#group ? `${row}${quoted(this.#group.open)} is null` : "true";
  }

  /** Adds a row to its total, or takes the row away; nothing where the row does not count. */
  change(row: "new." | "old.", sign: "" | "-"): string {
    const amounts = this.#digits(row).map((digits) => `${sign}(${digits})`);
    const grown = ["rows", ...DIGITS].map((each) => `${each} = ${quoted(TOTALS)}.${each} + excluded.${each}`);
    return `insert into ${quoted(TOTALS)} (${COLUMNS})
      select ${[this.#named, this.#dialect.list(this.#by(row)), this.#hour(row), `${sign}1`, ...amounts].join(", ")}
      where ${this.counts(row)} on conflict ("table", "group", hour) do update set ${grown.join(", ")}`;
  }

  /** Removes the total of a row that no row counts in any more. */
  clearing(row: "old."): string {
    return `delete from ${quoted(TOTALS)} where ${this.#isOfTable} and "group" = ${this.#dialect.list(this.#by(row))}
      and hour = ${this.#hour(row)} and rows = 0`;
  }

  get #named(): string {
    return `'${this.table.sqlName}'`;
  }

  get #isOfTable(): string {
    return `"table" = ${this.#named}`;
  }

  #isTotalOf(member: MemberPlace): string {
    // A driver may take a number for a fractional one.
    const values = this.#group.by.map((field) =>
      fieldNamed(this.table, field).kind === "text" ? member(field) : `cast(${member(field)} as bigint)`,
    );
    return `${this.#isOfTable} and "group" = ${this.#dialect.list(values)}`;
  }

  #by(row: string): readonly string[] {
    return this.#group.by.map((field) => `${row}${quoted(field)}`);
  }

  #hour(row: string): string {
    return "open" in this.#group ? NO_HOUR : hourOf(`${row}${quoted(this.#group.since)}`);
  }

  #digits(row: string): readonly string[] {
    const { sum } = this.#group;
    if (sum === undefined) return DIGITS.map(() => "0");
    const amount = `coalesce(${row}${quoted(sum)}, '0')`;
    return DIGITS.map((_, at) => this.#dialect.digits(amount, at * 9));
  }
}

/** The condition for rows of one group. Null equals nothing in SQL, and is one value to a group. */
export function membersOf(table: AnyTable, { by }: GroupOptions<string>, member: MemberPlace): string {
  const fields = by.map((field) => {
    const equals = fieldNamed(table, field).nullable ? "is not distinct from" : "=";
    return `${quoted(field)} ${equals} ${member(field)}`;
  });
  return fields.join(" and ");
}

const COLUMNS = Object.keys(totalsTable.columns).map(quoted).join(", ");

/** The totals that are kept for a table; null for a table without groups, or whose window counts rows alone: those are few. */
export function groupTotals(table: AnyTable, dialect: TotalsDialect): GroupTotals | null {
  const { group } = table;
  const isKept = group !== null && ("open" in group || group.sum !== undefined);
  return isKept ? new GroupTotals(table, group, dialect) : null;
}
