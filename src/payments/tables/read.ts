/** How lists of rows are asked for. */
import type { EngineStorage } from "../../../storage/storage.ts";
import type { Table } from "../../../storage/table.ts";

/** What is needed of a storage to read. */
export type TableReader = Pick<EngineStorage, "get" | "find" | "tally">;

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

/** Rows by their keys, each once; absent ones are left out. */
export async function rowsOf<R extends object>(
  read: TableReader,
  table: Table<R>,
  keys: readonly string[],
): Promise<readonly R[]> {
  const rows = await Promise.all([...new Set(keys)].map((key) => read.get(table, key)));
  return rows.filter((row) => row !== null);
}
