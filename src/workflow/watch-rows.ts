/**
 * Rows of watching: what the outside is asked about on behalf of instances. They are part of the commit of each step; the
 * snapshot holds what the rows say, so that a step knows them without a read.
 */
// modules: watching
import { createHash } from "node:crypto";
import type { AnyWrite, EngineStorage, InstanceRecord, Write } from "../../storage/storage.ts";
import { ownTable, type Row } from "../../storage/table.ts";
import type { ChartSnapshot } from "./chart.ts";
import { snapshotFromText } from "./snapshot-text.ts";
import type { StepContext } from "./step-context.ts";
import { kindsIn, watchedIn, type WatchedSnapshot, type WatchedWork } from "./watch-option.ts";

const TABLE = "paystateWatches";

export const watchRows = ownTable(TABLE, {
  columns: {
    /** `kind/instance`: an instance watches one thing of a kind. */
    id: "text",
    kind: "text",
    /** The watched thing, such as a signature. */
    key: "text",
    instance: "text",
    /** The life of the instance that watches: a finding is told to this life alone. */
    life: "text",
    /** The shard of its kind, `kind/shard`: polling processes divide the shards among themselves. */
    share: "text",
  },
  indexes: { share: ["share"] },
});

/** Something the outside is asked about on behalf of an instance. */
export interface WatchRecord extends Row<typeof watchRows> {}

/** The shards of each kind. More processes than this cannot share one kind. */
export const ALL_SHARDS: readonly number[] = Array.from({ length: 16 }, (_, shard) => shard);

export const shardOf = (key: string): number =>
  createHash("sha256").update(key).digest().readUInt32BE(0) % ALL_SHARDS.length;

const shareOf = (kind: string, shard: number): string => `${kind}/${shard.toString(ALL_SHARDS.length)}`;
/** Stands behind all shares of the kind, and before those of the next. */
const behind = (kind: string): string => `${kind}/g`;

/** The part of a step that watching adds. */
export const watchAddition = {
  field: "watched",
  filled(after: ChartSnapshot, { workflow, step }: Pick<StepContext, "workflow" | "step">): ChartSnapshot {
    const { watches } = workflow.given;
    // A final state needs nothing of the outside any more. A step in which children begin keeps what is watched.
    if (watches === undefined || after.status !== "active" || after.watched !== undefined) return after;
    const kinds = kindsIn(step.metasAfter);
    if (kinds.length === 0) return after;
    const keys = kinds.flatMap((kind) => {
      const keyOf = watches[kind];
      return keyOf === undefined ? [] : [[kind, keyOf(after.context as never)] as const];
    });
    return { ...after, watched: Object.fromEntries(keys) };
  },
  writes({ id, life, before, step: { after } }: StepContext): readonly Write<never>[] {
    if (before?.watched === undefined && after.watched === undefined) return NONE;
    const { watched: had = {} } = before ?? {};
    const { watched: has = {} } = after;
    const left = Object.keys(had).filter((kind) => has[kind] === undefined);
    const begun = Object.entries(has).filter(([kind, key]) => had[kind] !== key);
    const rowOf = (kind: string, key: string): WatchRecord => {
      return { id: `${kind}/${id}`, kind, key, instance: id, life, share: shareOf(kind, shardOf(key)) };
    };
    return [
      ...left.map((kind) => ({ table: TABLE, unput: `${kind}/${id}` })),
      ...begun.map(([kind, key]) => ({ table: TABLE, put: rowOf(kind, key) })),
    ] as readonly Write<never>[];
  },
  work: (snapshot: WatchedSnapshot): WatchedWork => ({ watches: watchedIn(snapshot) }),
} as const;

const NONE: readonly never[] = [];

/** Whether anything is watched for the instance, or may be where its snapshot is damaged. */
export function isWatched({ snapshot }: Pick<InstanceRecord, "snapshot">): boolean {
  try {
    return snapshotFromText(snapshot).watched !== undefined;
  } catch {
    return true;
  }
}

/** The kinds of the watches that begin with these writes. */
export const begunKinds = (writes: readonly AnyWrite[] = []): readonly string[] =>
  writes.flatMap((write) =>
    write.table === TABLE && "put" in write ? [(write.put as WatchRecord).kind] : [],
  );

/** The watches of a kind, or those in some of its shards, by their instances. */
export async function watchesOf(
  storage: Pick<EngineStorage, "find">,
  kind: string,
  shards: readonly number[] = ALL_SHARDS,
): Promise<readonly WatchRecord[]> {
  const shares = shards.map((shard) => shareOf(kind, shard));
  const found = await storage.find({ table: watchRows, index: "share", anyOf: ["share", shares] });
  return found.toSorted((a, b) => (a.instance < b.instance ? -1 : 1));
}

/** The kinds of all watches, with one read for each. */
export async function watchedKinds(storage: Pick<EngineStorage, "find">): Promise<readonly string[]> {
  const kinds: string[] = [];
  for (let after: readonly string[] = []; ;) {
    const [row] = await storage.find({ table: watchRows, index: "share", after, limit: 1 });
    if (row === undefined) return kinds;
    kinds.push(row.kind);
    after = [behind(row.kind)];
  }
}
