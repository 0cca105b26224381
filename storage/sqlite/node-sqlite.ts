/** The driver that Node brings, `node:sqlite`, as the adapter speaks to better-sqlite3: whatever differs is evened out here. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { bare } from "../compiled-queries.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import type { BackupOptions, OpenedDatabase, OpenOptions, SqliteStatement } from "./handle.ts";
import { withNames, withNamesLater } from "./node-errors.ts";

/** A value that `node:sqlite` binds. */
export type NodeSqliteValue = null | number | bigint | string | ArrayBufferView;

/** The required part of a `StatementSync` of `node:sqlite`. */
export interface NodeSqliteStatement {
  readonly sourceSQL: string;
  run(...values: NodeSqliteValue[]): { readonly changes: number | bigint };
  get(...values: NodeSqliteValue[]): unknown;
  all(...values: NodeSqliteValue[]): unknown[];
  setReadBigInts(enabled: boolean): void;
  /** From Node 22.16 on. */
  setReturnArrays?(enabled: boolean): void;
}

/** The required part of an open database of Node's own driver; a `DatabaseSync` of `node:sqlite` is one. */
export interface NodeSqliteDatabase {
  /** From Node 22.16 on. */
  readonly isTransaction?: boolean;
  prepare(sql: string): NodeSqliteStatement;
  exec(sql: string): void;
  close(): void;
}

/** The module. `backup` is there from Node 22.16 on. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => NodeSqliteDatabase;
  readonly backup?: (
    source: NodeSqliteDatabase,
    target: string,
    options: { readonly rate: number; readonly progress: BackupOptions["progress"] },
  ) => Promise<unknown>;
}

/** Null where this Node has none. */
function nodeSqlite(): NodeSqlite | null {
  if (otherRuntime() !== null) return null;
  return (process.getBuiltinModule("node:sqlite") as NodeSqlite | undefined) ?? null;
}

/** Bun and Deno have modules of this name, or handles of this form, which nobody has tried. */
function otherRuntime(): string | null {
  const { bun, deno } = process.versions;
  return (bun !== undefined && `Bun ${bun}`) || (deno !== undefined && `Deno ${deno}`) || null;
}

export const hasNodeSqlite = (): boolean => nodeSqlite() !== null;

/** @throws StorageUnusable `driver_missing`. */
function ownSqlite(): NodeSqlite {
  const found = nodeSqlite();
  if (found !== null) return found;
  throw new StorageUnusable(
    "driver_missing",
    `of drivers that are not better-sqlite3 only node:sqlite is used, and this is ${otherRuntime() ?? `Node ${process.versions.node}`}: ` +
      "`npm install better-sqlite3`",
  );
}

let keepsNulOfThisNode: boolean | undefined;

/** Node 22 reads a text up to its first NUL. */
function keepsNul(): boolean {
  if (keepsNulOfThisNode === undefined) {
    const memory = new (ownSqlite().DatabaseSync)(":memory:", { readOnly: false });
    const row = memory.prepare("select char(97, 0, 98) as text").get() as { readonly text: string };
    memory.close();
    keepsNulOfThisNode = row.text.length === 3;
  }
  return keepsNulOfThisNode;
}

/** As many KiB as better-sqlite3 is built with; SQLite's own default is an eighth of it. */
const CACHE = "pragma cache_size = -16000";

/** Opens a file by the driver that Node brings. */
export function openNodeSqlite(path: string, options: OpenOptions): OpenedDatabase {
  return withNames(() => {
    const { DatabaseSync } = ownSqlite();
    const opened = new DatabaseSync(placeOf(path, options), { readOnly: options.readonly ?? false });
    return new NodeDatabase(opened, CACHE);
  });
}

/** Absolute, so that it is never taken for a URL. Node itself makes a file that is not there. */
function placeOf(path: string, { fileMustExist = false }: OpenOptions): string {
  if (path === ":memory:") return path;
  const place = resolve(path);
  if (fileMustExist && !existsSync(place)) {
    throw Object.assign(new Error("unable to open database file"), { code: "SQLITE_CANTOPEN" });
  }
  return place;
}

const adapted = new WeakMap<NodeSqliteDatabase, OpenedDatabase>();

/** One for each handle. @throws StorageUnusable `driver_missing` where it is of another runtime. */
export function adaptedNodeSqlite(handle: NodeSqliteDatabase): OpenedDatabase {
  const known = adapted.get(handle);
  if (known !== undefined) return known;
  const made = new NodeDatabase(handle);
  adapted.set(handle, made);
  return made;
}

class NodeDatabase implements OpenedDatabase {
  readonly #database: NodeSqliteDatabase;
  readonly #keepsNul: boolean;
  /** Carried out before the first statement: it reads the file, which may be another's turn, or no database. */
  #settings: string | null;
  #isClosed = false;

  constructor(database: NodeSqliteDatabase, settings: string | null = null) {
    this.#database = database;
    this.#settings = settings;
    this.#keepsNul = keepsNul();
  }

  get inTransaction(): boolean {
    try {
      return this.#database.isTransaction ?? this.#isRefusedToBegin();
    } catch {
      return false; // It is closed.
    }
  }

  /** For a Node before 22.16. Neither statement takes a lock. */
  #isRefusedToBegin(): boolean {
    try {
      this.#database.exec("begin");
    } catch (error) {
      return error instanceof Error && error.message.includes("within a transaction");
    }
    this.#database.exec("commit");
    return false;
  }

  prepare(sql: string): SqliteStatement {
    return withNames(() => {
      if (this.#settings !== null) this.#database.exec(this.#settings);
      this.#settings = null;
      const statement = this.#database.prepare(sql);
      if (bare(sql.slice(statement.sourceSQL.length).replace(/^[\s;]+/, "")) !== "") {
        throw new RangeError("The supplied SQL string contains more than one statement");
      }
      // A host may have set its own database to another default.
      statement.setReadBigInts(false);
      statement.setReturnArrays?.(false);
      const isReadOnly = (): boolean => readsOnly(this.#database, sql);
      return new NodeStatement({ statement, sql, isReadOnly, keepsNul: this.#keepsNul });
    });
  }

  pragma(source: string): unknown {
    return this.prepare(`pragma ${source}`).all();
  }

  /** A second time it does nothing, as that of better-sqlite3. */
  close(): void {
    if (this.#isClosed) return;
    this.#database.close();
    this.#isClosed = true;
  }

  async backup(target: string, { rate, progress }: BackupOptions): Promise<unknown> {
    const { backup: copy } = ownSqlite();
    if (copy === undefined) {
      throw new StorageUnusable(
        "driver_unusable",
        `node:sqlite of Node ${process.versions.node} copies no database: run Node 22.16 or newer, or ` +
          "`npm install better-sqlite3`",
      );
    }
    return withNamesLater(() => copy(this.#database, target, { rate, progress }));
  }
}

/** Opcodes that write, whatever their operands. */
const WRITING = new Set(["Checkpoint", "Vacuum", "JournalMode"]);

/** As SQLite judges it (`sqlite3_stmt_readonly`): by the program of the statement. */
function readsOnly(database: NodeSqliteDatabase, sql: string): boolean {
  const program = withNames(() => database.prepare(`explain ${sql}`).all()) as readonly {
    readonly opcode: string;
    readonly p2: number;
  }[];
  return !program.some(({ opcode, p2 }) => WRITING.has(opcode) || (opcode === "Transaction" && p2 !== 0));
}

/** Node 22 binds null in place of no bytes at no address. */
const NO_BYTES = new Uint8Array(new ArrayBuffer(1), 0, 0);

function asBytes(value: ArrayBufferView): Uint8Array {
  if (value.byteLength === 0) return NO_BYTES;
  return value instanceof Uint8Array
    ? value
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

interface StatementParts {
  readonly statement: NodeSqliteStatement;
  readonly sql: string;
  readonly isReadOnly: () => boolean;
  /** Whether a text with a NUL is read whole. */
  readonly keepsNul: boolean;
}

class NodeStatement implements SqliteStatement {
  /** Here `all` carries out any statement, and reads the answer to its end. */
  readonly reader = true;
  readonly #parts: StatementParts;
  readonly #places: number;
  #isSafe = false;
  #readsBigInts = false;

  constructor(parts: StatementParts) {
    this.#parts = parts;
    this.#places = placesIn(parts.sql);
  }

  get readonly(): boolean {
    return this.#parts.isReadOnly();
  }

  /** With bigints, since Node 26 throws for the number of the last row, whoever inserted it, when all is done. */
  run(...given: unknown[]): { readonly changes: number } {
    const values = this.#bound(given);
    this.#readBigInts(true);
    const { changes } = withNames(() => this.#parts.statement.run(...values));
    return { changes: Number(changes) };
  }

  get(...given: unknown[]): unknown {
    const values = this.#bound(given);
    this.#readBigInts(this.#isSafe);
    const row = withNames(() => this.#parts.statement.get(...values));
    return row === undefined ? undefined : plain(row);
  }

  all(...given: unknown[]): unknown[] {
    const values = this.#bound(given);
    this.#readBigInts(this.#isSafe);
    const rows = withNames(() => this.#parts.statement.all(...values));
    for (const row of rows) plain(row);
    return rows;
  }

  safeIntegers(toggle: boolean): void {
    this.#isSafe = toggle;
  }

  #readBigInts(enabled: boolean): void {
    if (this.#readsBigInts === enabled) return;
    withNames(() => this.#parts.statement.setReadBigInts(enabled));
    this.#readsBigInts = enabled;
  }

  /** Node takes an object that comes first for names and their values, and binds null where a value is missing. */
  #bound(given: readonly unknown[]): NodeSqliteValue[] {
    const values = (Array.isArray(given[0]) ? given[0] : given) as readonly unknown[];
    if (Number.isNaN(this.#places)) throw new RangeError("Missing named parameters");
    if (values.length !== this.#places) {
      const many = values.length < this.#places ? "few" : "many";
      throw new RangeError(`Too ${many} parameter values were provided`);
    }
    return values.map((value) => this.#bindable(value));
  }

  #bindable(value: unknown): NodeSqliteValue {
    if (typeof value === "string") {
      if (this.#parts.keepsNul || !value.includes("\0")) return value;
      throw new TypeError(
        `node:sqlite of Node ${process.versions.node} keeps no text with a NUL: run Node 24 or newer, or ` +
          "`npm install better-sqlite3`",
      );
    }
    if (value === null || value === undefined) return null;
    if (typeof value === "number") return value;
    if (typeof value === "bigint") {
      if (BigInt.asIntN(64, value) === value) return value;
      throw new RangeError("The bound string, buffer, or bigint is too big");
    }
    if (ArrayBuffer.isView(value)) return asBytes(value);
    throw new TypeError("SQLite3 can only bind numbers, strings, bigints, buffers, and null");
  }
}

/** A row has no prototype, and would be taken for no plain object. */
function plain(row: unknown): unknown {
  return Object.setPrototypeOf(row, Object.prototype);
}

/** Quoted parts, comments and names, in which a place is none; then places with a name or number, and those without. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?\*\/|[a-z_\u0080-\uffff][\w$\u0080-\uffff]*|(\?\d+|[:@$]\w+)|(\?)/gi;

/** The number of values that a statement takes, NaN where some have names. */
function placesIn(sql: string): number {
  let places = 0;
  for (const [, name, place] of sql.matchAll(TOKEN)) {
    if (name !== undefined) return Number.NaN;
    if (place !== undefined) places += 1;
  }
  return places;
}
