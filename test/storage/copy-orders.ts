/**
 * Fills a database with copies of finished orders, set by set: a statement for each row of an order writes that row of
 * thousands of copies. A copy has ids, signatures and hashes of its own, and lies a minute before the next one.
 */
// modules: webhooks
import Database from "better-sqlite3";
import pg from "pg";
import type { Field } from "../../storage/row.ts";
import { quoted } from "../../storage/sql/statement.ts";
import type { Cell, FinishedOrders, Row, RowGroup } from "./finished-orders.ts";

/** How many orders a database gets, and how many accounts they belong to. */
export interface Filling {
  readonly orders: number;
  readonly accounts: number;
}

/** What is different in each database. */
export interface FillDialect {
  /** The lowercase hexadecimal digits of a number. */
  readonly hex: (number: string, digits: number) => string;
  readonly bytes: (hex: string) => string;
  /** Rows with one column `n`, from `first` on in steps. */
  readonly series: (range: {
    readonly first: number;
    readonly last: number;
    readonly step: number;
  }) => string;
}

/** A million are two years of orders. */
const SPACING_MS = 60_000;
/** So many orders are written before those that follow them. */
const AT_ONCE = 2_000;
const HEX_DIGITS = 8;
/** A signature that began with others might be a number too large for 64 bytes. */
const KEPT_LETTERS = 4;
const TIME_DIGITS = 12;
/** Odd, and so no two numbers below 2^32 are scattered to one place. */
const SCATTER = 2_654_435_761;
const EARLIEST_MS = 1_500_000_000_000;
const LATEST_MS = 4_000_000_000_000;
/** `tx_`, twelve digits of its time and twenty more. */
const TIMED_ID = /^([a-z_]+_)([0-9a-f]{12})([0-9a-f]{20})$/;
const HEX = /^[0-9a-f]{32,}$/;

export const sqliteFill: FillDialect = {
  hex: (number, digits) => `printf('%0${digits}x', ${number})`,
  bytes: (hex) => `x'${hex}'`,
  series: ({ first, last, step }) =>
    `(with recursive s(n) as (select ${first} union all select n + ${step} from s where n + ${step} <= ${last}) select n from s)`,
};

export const postgresFill: FillDialect = {
  hex: (number, digits) => `lpad(to_hex(${number}), ${digits}, '0')`,
  bytes: (hex) => `'\\x${hex}'`,
  series: ({ first, last, step }) => `generate_series(${first}::bigint, ${last}, ${step}) s(n)`,
};

/** Runs statements in one transaction. */
type Run = (statements: readonly string[]) => void | Promise<void>;

export async function fillSqlite(path: string, finished: FinishedOrders, filling: Filling): Promise<void> {
  const database = new Database(path);
  database.pragma("synchronous = off");
  // Orders of many accounts go everywhere in the indexes: what is not kept is read again.
  database.pragma("cache_size = -2000000");
  try {
    const run = database.transaction((statements: readonly string[]) => {
      for (const statement of statements) database.exec(statement);
    });
    await fill(run, sqliteFill, { finished, filling });
    database.pragma("wal_checkpoint(truncate)");
  } finally {
    database.close();
  }
}

export async function fillPostgres(
  { url, schema }: { readonly url: string; readonly schema: string },
  finished: FinishedOrders,
  filling: Filling,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`set search_path = ${quoted(schema)}; set synchronous_commit = off`);
    const run = async (statements: readonly string[]): Promise<void> => {
      await client.query(["begin", ...statements, "commit"].join(";\n"));
    };
    await fill(run, postgresFill, { finished, filling });
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

interface Given {
  readonly finished: FinishedOrders;
  readonly filling: Filling;
}

async function fill(run: Run, dialect: FillDialect, { finished, filling }: Given): Promise<void> {
  const { orders, accounts } = filling;
  const account = { ...finished.account, number: "n" };
  const everyAccount = { first: 1, last: accounts - 1, step: 1 };
  const whole = { dialect, shift: shiftOf(0), groups: [account] };
  await run(finished.account.rows.map((row) => copying(row, whole, { first: 0, last: 0, step: 1 })));
  if (accounts > 1) await run(finished.account.rows.map((row) => copying(row, whole, everyAccount)));
  const kinds = finished.orders.length;
  for (let from = 1; from <= orders; from += AT_ONCE) {
    const last = Math.min(orders, from + AT_ONCE - 1);
    const statements = finished.orders.flatMap((order, kind) => {
      const first = from + kind;
      if (first > last) return [];
      const groups = [
        { ...order, number: "n" },
        { ...finished.account, number: `(n % ${accounts})` },
      ];
      const range = { first, last, step: kinds };
      return order.rows.map((row) => copying(row, { dialect, shift: shiftOf(orders), groups }, range));
    });
    await run(statements);
  }
}

/** How long before the finished order its copy lies, in milliseconds. */
const shiftOf = (orders: number): string => `((${orders} - n) * ${SPACING_MS})`;

/** Texts that a copy has of its own, and the number that tells the copies apart. */
interface Numbered extends RowGroup {
  readonly number: string;
}

interface Copying {
  readonly dialect: FillDialect;
  readonly shift: string;
  readonly groups: readonly Numbered[];
}

function copying(row: Row, how: Copying, range: Parameters<FillDialect["series"]>[0]): string {
  const columns = row.fields.map(({ name }) => quoted(name)).join(", ");
  const values = row.fields.map((field) => copied(row.cells[field.name] ?? null, field, how)).join(", ");
  return `insert into ${quoted(row.table)} (${columns}) select ${values} from ${how.dialect.series(range)}`;
}

function copied(cell: Cell, { kind }: Field, { dialect, shift, groups }: Copying): string {
  if (cell === null) return "null";
  if (cell instanceof Uint8Array) return dialect.bytes(Buffer.from(cell).toString("hex"));
  if (typeof cell === "number") {
    const isTime = kind === "integer" && cell > EARLIEST_MS && cell < LATEST_MS;
    return isTime ? `${cell} - ${shift}` : String(cell);
  }
  const own = groups.flatMap(({ own: texts, number }) => texts.map((text) => ({ text, number })));
  const parts = splitAt(cell, own).map((part) =>
    typeof part === "string" ? literal(part) : renamed(part, { dialect, shift }),
  );
  return parts.length === 0 ? "''" : parts.join(" || ");
}

interface OwnText {
  readonly text: string;
  readonly number: string;
}

/** The text in parts: those that are a copy's own, and what lies between them. */
function splitAt(text: string, own: readonly OwnText[]): readonly (string | OwnText)[] {
  const found = own.find((each) => text.includes(each.text));
  if (found === undefined) return text === "" ? [] : [text];
  const at = text.indexOf(found.text);
  const rest = text.slice(at + found.text.length);
  return [...splitAt(text.slice(0, at), own), found, ...splitAt(rest, own)];
}

/** The id that a text of the finished orders has in a copy: of an order in the n-th of so many, of an account in the n-th, none later. */
export function copyOfId(id: string, { n, orders }: { readonly n: number; readonly orders: number }): string {
  const [, prefix = "", time = "", tail = ""] = TIMED_ID.exec(id) ?? [];
  const at = parseInt(time, 16) - (orders - n) * SPACING_MS;
  const chance = ((n * SCATTER) % 2 ** 32).toString(16).padStart(HEX_DIGITS, "0");
  return `${prefix}${at.toString(16).padStart(TIME_DIGITS, "0")}${tail.slice(HEX_DIGITS)}${chance}`;
}

/** An id keeps its form and the order of time; the place of everything else is by chance, as that of a signature is. */
function renamed({ text, number }: OwnText, { dialect, shift }: Pick<Copying, "dialect" | "shift">): string {
  const chance = dialect.hex(`(${number} * ${SCATTER}) % 4294967296`, HEX_DIGITS);
  const [, prefix = "", time = "", tail = ""] = TIMED_ID.exec(text) ?? [];
  if (time !== "") {
    const at = number === "n" ? dialect.hex(`${parseInt(time, 16)} - ${shift}`, TIME_DIGITS) : literal(time);
    return `${literal(prefix)} || ${at} || ${literal(tail.slice(HEX_DIGITS))} || ${chance}`;
  }
  // Base58 has no 0.
  const letters = HEX.test(text) ? chance : `replace(${chance}, '0', 'Z')`;
  const kept = text.slice(0, KEPT_LETTERS);
  return `${literal(kept)} || ${letters} || ${literal(text.slice(KEPT_LETTERS + HEX_DIGITS))}`;
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
