/** Hands to the host what is about to be removed, and gives it a bounded time. */
import type { Clock } from "../../runtime.ts";

/** What is kept elsewhere before it is removed here. */
export type Archive<R> = (records: readonly R[]) => void | Promise<void>;

const ARCHIVE_MS = 60_000;

/**
 * Resolves once the host has taken the records. Rejects with what it threw, and when it takes longer than a minute: then
 * nothing may be removed.
 */
export async function archived<R>(
  clock: Clock,
  archive: Archive<R> | null,
  records: readonly R[],
): Promise<void> {
  if (archive === null || records.length === 0) return;
  const inTime = new AbortController();
  const tooLong = clock.sleep(ARCHIVE_MS, inTime.signal).then(() => {
    if (!inTime.signal.aborted) throw new Error("the archive took longer than a minute");
  });
  try {
    await Promise.race([Promise.resolve(archive(records)), tooLong]);
  } finally {
    inTime.abort();
  }
}
