/**
 * Moves an SQLite database into PostgreSQL. File and target can never both be in use: the file is locked from the first
 * read on; the target is filled in one transaction, so it is empty or complete; and the file is marked, durably, before
 * that transaction commits. A process that dies leaves an unchanged file, a marked file with an empty target, or a
 * marked file with a complete target: running the same move again continues from any of the three.
 */
import { Database } from "./postgres/database.ts";
import { openConnections } from "./postgres/open.ts";
import { again } from "./postgres/retries.ts";
import { FilledSchema } from "./move/filled-schema.ts";
import { HeldFile } from "./move/held-file.ts";
import { type CopiedRows, type CopiedTable, isSameRow, placeOf, type StoredRow } from "./move/stored-rows.ts";
import { codeOf, explained } from "./sqlite/explain.ts";
import { lost } from "./postgres/explain.ts";
import type { MoveRecord } from "./sqlite/moved.ts";
import { StorageUnusable } from "./storage-unusable.ts";

export type { CopiedRows } from "./move/stored-rows.ts";

/** From where to where. */
export interface Move {
  /** The path of the SQLite file. No process has it open. */
  readonly from: string;
  /** The URL of the PostgreSQL database. */
  readonly to: string;
  /** The schema to be made there, as `postgresStorage` names it: `paystate`. */
  readonly schema?: string;
  /** Called after each page of rows. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** How far a move has come. Each table is sent and read back before the next one. */
export interface MoveProgress {
  readonly sentRows: number;
  readonly readBackRows: number;
  /** All rows of the file. */
  readonly rows: number;
}

/** The result of a move. */
export interface MoveResult {
  /** The present place of the data, without a password. */
  readonly place: string;
  /** Copied tables, read back row by row; empty when `wasThere`. */
  readonly tables: readonly CopiedRows[];
  /** Tables of the file that paystate did not make: they are not copied. */
  readonly leftBehind: readonly string[];
  /** An earlier run had copied everything and was cut off before it could say so. */
  readonly wasThere: boolean;
}

/**
 * Copies an SQLite database into a new schema of a PostgreSQL database, reads every row back and compares it, and gives up
 * the file: no storage opens it any more. Everything keeps its place: instances, due times, tokens of tasks, the order of
 * insertion. A service that is given `postgresStorage(to)` goes on in the middle of its payments.
 *
 * The file is held for as long as it takes (100,000 rows took 12 s on two busy cores), so services are stopped before. A move that
 * fails or is cut off leaves a file that can be used as before, or refuses it until the same move is run again; never a file
 * and a target that can both be used.
 *
 * @throws StorageUnusable `in_use` when a process has the file open, `target_exists` when the schema has tables, `moved`
 * when the file went elsewhere before; `copy_differs` when a row is not read back as it was; and whatever makes a storage
 * unusable.
 */
export async function moveToPostgres({
  from,
  to,
  schema = "paystate",
  onProgress = () => {},
}: Move): Promise<MoveResult> {
  const { servers, close } = await openConnections(to, { connections: 1, listen: false });
  try {
    const file = await HeldFile.open(from);
    try {
      const database = new Database(servers, { schema, statementTimeoutMs: 60_000, lockTimeoutMs: 15_000 });
      return await moved({ file, database, place: placeIn(to, schema), onProgress });
    } finally {
      file.close();
    }
  } catch (error) {
    const known = explained(error);
    throw codeOf(known).startsWith("SQLITE_") ? known : lost(known);
  } finally {
    await close();
  }
}

/**
 * The place as errors, marks and reports name it: without user and password. Parameters behind the question mark come
 * first, as in the driver: two servers must not get the same name, or a copy would be looked for on the wrong server.
 */
function placeIn(url: string, schema: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  const at = searchParams.get("port") ?? port;
  return `postgres://${host}${at === "" ? "" : `:${at}`}${pathname}, schema ${schema}`;
}

interface Transfer {
  readonly file: HeldFile;
  readonly database: Database;
  readonly place: string;
  readonly onProgress: (progress: MoveProgress) => void;
}

async function moved(transfer: Transfer): Promise<MoveResult> {
  const { file, place } = transfer;
  const mark = file.mark();
  if (mark !== null && mark.place !== place) throw goneElsewhere(mark);
  if (mark !== null && (await hasArrived(transfer, mark))) {
    file.setMark({ ...mark, state: "moved" });
    return { place, tables: [], leftBehind: [], wasThere: true };
  }
  if (mark?.state === "moved") throw lostSince(mark);
  return { place, ...(await copied(transfer)), wasThere: false };
}

/** Under the lock, so that a copy whose COMMIT was under way when its process died is there by now, or never. */
const hasArrived = ({ database }: Transfer, { copy }: MoveRecord): Promise<boolean> =>
  FilledSchema.within(database, async (filled) => (await filled.arrived()) === copy);

type Copied = Pick<MoveResult, "tables" | "leftBehind">;

async function copied(transfer: Transfer): Promise<Copied> {
  const { file, database, place } = transfer;
  const pending: { mark?: MoveRecord } = {};
  let all: Copied = { tables: [], leftBehind: [] };
  try {
    await FilledSchema.within(database, async (filled) => {
      all = await fill(transfer, filled);
      const mark: MoveRecord = { copy: await filled.markArrived(file.path), place, state: "moving" };
      file.setMark(mark);
      // From here on no service opens the file any more, also where the commit that follows fails.
      pending.mark = mark;
    });
  } catch (error) {
    if (pending.mark === undefined) throw error;
    await lookUp(transfer, pending.mark, error);
  }
  if (pending.mark !== undefined) file.setMark({ ...pending.mark, state: "moved" });
  return all;
}

/** Whether it happened is known to the target alone. While that does not answer, the file stays marked. */
async function lookUp(transfer: Transfer, mark: MoveRecord, cause: unknown): Promise<void> {
  const isThere = await again(() => hasArrived(transfer, mark)).catch((error: unknown) => {
    throw new StorageUnusable(
      "unavailable",
      `the connection was lost while ${mark.place} committed the copy, and it does not answer: ` +
        "no service begins on the file until the same move was run again",
      { cause: error },
    );
  });
  if (isThere) return;
  transfer.file.setMark(null);
  throw cause;
}

async function fill({ file, database, onProgress }: Transfer, filled: FilledSchema): Promise<Copied> {
  const { schema } = database;
  if ((await filled.present()).size > 0) {
    throw new StorageUnusable(
      "target_exists",
      `the schema ${schema} of this database has tables, and only an empty one is filled: name another with --schema, ` +
        `or, where nothing in it is needed, \`drop schema "${schema}" cascade\``,
    );
  }
  await filled.make(file.installed());
  const { copied: wanted, left } = file.tables(await filled.present());
  const tables: CopiedRows[] = [];
  const progress = { sentRows: 0, readBackRows: 0, rows: file.count(wanted) };
  const tell = (field: "sentRows" | "readBackRows", rows: number): void => {
    progress[field] += rows;
    onProgress({ ...progress });
  };
  for (const table of wanted) {
    let last: StoredRow | undefined;
    for (const { after, rows } of file.pages(table)) {
      last = after;
      if (rows.length > 0) await filled.add(table, rows);
      tell("sentRows", rows.length);
    }
    await filled.finish(table, last);
    const pages = file.pages(table);
    tables.push(await readBack(filled, { table, pages, tell: (rows) => tell("readBackRows", rows) }));
  }
  return { tables, leftBehind: left };
}

interface Reading {
  readonly table: CopiedTable;
  readonly pages: ReturnType<HeldFile["pages"]>;
  readonly tell: (rows: number) => void;
}

/** Both are read in the same order: what is missing, too much or different shows in the first page that has it. */
async function readBack(filled: FilledSchema, { table, pages, tell }: Reading): Promise<CopiedRows> {
  const sums: Record<string, bigint> = Object.fromEntries(table.amounts.map((column) => [column, 0n]));
  let count = 0;
  for (const { after, rows } of pages) {
    const found = await filled.page(table, after);
    rows.forEach((row, index) => {
      const back = found[index];
      if (back === undefined || !isSameRow(table, row, back)) throw differs(table, row);
      for (const column of table.amounts) {
        sums[column] = (sums[column] ?? 0n) + BigInt(String(back[column] ?? 0));
      }
    });
    if (found.length !== rows.length) throw differs(table, found.at(-1));
    count += rows.length;
    tell(rows.length);
  }
  return { table: table.name, rows: count, sums };
}

const differs = (table: CopiedTable, row: StoredRow | undefined): StorageUnusable =>
  new StorageUnusable(
    "copy_differs",
    `${table.name}: the row ${row === undefined ? "" : placeOf(table, row)} is not read back as it lies in the file; nothing was moved`,
  );

const goneElsewhere = ({ place, state }: MoveRecord): StorageUnusable =>
  new StorageUnusable(
    "moved",
    state === "moved"
      ? `this file was moved to ${place} before, and is old by now`
      : `this file was being moved to ${place} when that was cut off, and may have arrived: name the same target again`,
  );

const lostSince = ({ place }: MoveRecord): StorageUnusable =>
  new StorageUnusable(
    "moved",
    `this file was moved to ${place}, which does not hold it any more: restore a backup of that database; this file is old`,
  );
