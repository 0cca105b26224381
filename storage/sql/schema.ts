/** The tables as SQL sees them: what the drivers take and give, before the codecs. */
import type { Generated } from "kysely";
import type { EngineTables } from "../engine-tables.ts";

type Encoded<V> = V extends bigint ? string : V extends boolean ? number : V;

/** A record as it lies in its row. */
export type Encode<R> = { -readonly [F in keyof R]: Encoded<R[F]> };

/**
 * One row for each lane and workflow with tasks in it. Claims pick lanes first, so neither a million tasks behind one
 * lane nor thousands of full lanes cost them anything.
 */
export interface LaneRow {
  lane: string;
  workflow: string;
  /** As the lane was last armed with, whatever the workflow. */
  cap: number;
  /** The group it was last armed with, as its tasks have it; empty for none. */
  laneGroup: string;
  /** When there will be a task of this workflow and a slot for it. */
  nextAt: number;
}

/** A lane that gives fewer tasks at once than it is armed to; kept also while it is empty. */
export interface NarrowedLaneRow {
  lane: string;
  cap: number;
}

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
  lanes: LaneRow;
  narrowedLanes: NarrowedLaneRow;
  tasks: Sequenced;
  paystateTables: InstalledTable;
};

/** What a driver takes for a parameter and gives for a column. */
export type SqlValue = string | number | Uint8Array | null;
