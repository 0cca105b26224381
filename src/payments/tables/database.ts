/**
 * Tables about the database as a whole: the chain that the database belongs to, and the times at which processes were
 * at work.
 */
import { ownTable, type Row } from "../../../storage/table.ts";
import type { TableReader } from "./read.ts";

/** Facts about the whole database, such as the genesis hash it belongs to. */
export const facts = ownTable("facts", { columns: { id: "text", value: "text" } });

export interface FactRecord extends Row<typeof facts> {}

/**
 * Stretches of time in which some process was at work on the database. What is between the end of one and the beginning of
 * the next is a gap: then another copy of the database may have been at work.
 */
export const lives = ownTable("lives", {
  columns: {
    id: "text",
    /** The version, so that only one of several processes notes a sign. */
    version: "integer",
    since: "integer",
    /** The last sign of life in it. */
    until: "integer",
  },
});

export interface LifeRecord extends Row<typeof lives> {}

export const databaseReads = (read: TableReader) => ({
  fact: async (id: string) => (await read.get(facts, id))?.value ?? null,
  /** The life of the database that goes on, or was the last; null before the first. */
  async newestLife() {
    const [newest] = await read.find({ table: lives, order: "desc", limit: 1 });
    return newest ?? null;
  },
  /** The lives of the database, oldest first, 200 at most. */
  lives: () => read.find({ table: lives }),
});
