/** Facts about the database as a whole: its chain, and singletons. */
import { ownTable } from "../../../../storage/table.ts";
import { rowOf, type TableReader } from "./read.ts";

/** Facts about the whole database, such as the genesis hash it belongs to. */
export const facts = ownTable("facts", { columns: { id: "text", value: "text" } });

export const databaseReads = (read: TableReader) => ({
  fact: async (id: string) => (await rowOf(read, facts, id))?.value ?? null,
});
