/** The changes of an instance and its history by a commit, on either database. */
import type { AnyCommit, InstanceRecord } from "./storage.ts";

/** To remove a row takes some microseconds, and others wait meanwhile. */
export const MAX_FORGOTTEN = 20_000;

/** The row of a newly started instance. */
export function startedInstance(start: NonNullable<AnyCommit["starts"]>[number]): InstanceRecord {
  const { id, workflow, hash, stamp, parent, status, snapshot, createdAt } = start;
  const { version = 1, life = stamp, updatedAt = createdAt } = start;
  return { id, workflow, hash, version, stamp, life, parent, status, snapshot, createdAt, updatedAt };
}
