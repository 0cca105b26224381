/** Shards: the watches of a kind are divided into shards, so that several processes can share them. */
import { createHash } from "node:crypto";

/** More processes than this cannot share one kind. */
const SHARDS_PER_KIND = 16;

/** Every shard of a kind, for code that reads watches without polling them. */
export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS_PER_KIND }, (_, shard) => shard);

export function shardOf(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0) % SHARDS_PER_KIND;
}
