/** Reads lists of rows. */
import type { EngineStorage } from "../../../../storage/storage.ts";
import type { Table } from "../../../../storage/table.ts";

/** The reading part of a storage. */
export type TableReader = Pick<EngineStorage, "find" | "tally">;

/** A place in a list that is ordered by creation, and where that is the same by id. */
export interface ListKey {
  readonly createdAt: number;
  readonly id: string;
}

/** A part of a list that begins with the newest: up to `limit` rows that stand below a place, or from the top. */
export interface NewestPageQuery {
  readonly below: ListKey | null;
  readonly limit: number;
}

/** A part of a list that is distinguished by the order in which it grew: up to `limit` rows beyond one of them. */
export interface SequencePageQuery {
  readonly order: "asc" | "desc";
  /** The id of a row, null to begin at the end that `order` begins with. */
  readonly beyond: string | null;
  readonly limit: number;
}

/** A page that begins with the newest, by creation and where that is the same by id. */
export function newestFirst({ below, limit }: NewestPageQuery) {
  const after = below === null ? {} : { after: [below.createdAt, below.id] };
  return { order: "desc", limit, ...after } as const;
}

/** Rows by the value of a field, in the order given. */
export function groupedBy<R extends object, F extends keyof R>(
  rows: readonly R[],
  field: F,
): ReadonlyMap<R[F], readonly R[]> {
  const groups = new Map<R[F], R[]>();
  for (const row of rows) {
    const group = groups.get(row[field]) ?? [];
    group.push(row);
    groups.set(row[field], group);
  }
  return groups;
}

/** The row with this id, or null. */
export const rowOf = async <R extends object>(
  read: TableReader,
  table: Table<R>,
  id: string,
): Promise<R | null> => (await read.find({ table, key: id }))[0] ?? null;

/** Rows by their ids, each once and in any order; absent ones are left out. */
export async function rowsOf<R extends { readonly id: string }>(
  read: TableReader,
  table: Table<R>,
  ids: readonly string[],
): Promise<readonly R[]> {
  return ids.length === 0 ? [] : read.find({ table, index: "key", anyOf: ["id", ids] });
}

const PAGE = 500;

/** Every row of a list; `page` reads up to `limit` of those behind `last`. */
export async function* everyRow<R>(
  page: (last: R | null, limit: number) => Promise<readonly R[]>,
): AsyncGenerator<R> {
  for (let last: R | null = null; ;) {
    const rows: readonly R[] = await page(last, PAGE);
    yield* rows;
    last = rows.at(-1) ?? null;
    if (rows.length < PAGE) return;
  }
}
