/** The tables as SQL sees them: what the drivers take and give, before the codecs. */
import type { Generated } from "kysely";
import type { EngineTables } from "../engine-tables.ts";

type Encoded<V> = V extends bigint ? string : V extends boolean ? number : V;

/** A record as it lies in its row. */
export type Encode<R> = { -readonly [F in keyof R]: Encoded<R[F]> };

/** Tells rows of one time apart: the order in which they came to be. */
interface Sequenced {
  seq: Generated<number>;
}

/** One row for each of the caller's tables: what it is now, and how many migrations it has seen. */
export interface InstalledTable {
  name: string;
  definition: string;
  migrations: number;
}

export type Schema = { [T in keyof EngineTables]: Encode<EngineTables[T]> } & {
  tasks: Sequenced;
  paystateTables: InstalledTable;
};

/** What a driver takes for a parameter and gives for a column. */
export type SqlValue = string | number | Uint8Array | null;
