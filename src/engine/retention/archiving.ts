/** Hands to the host what is about to be removed, and gives it a bounded time. */
import type { Clock } from "../../core/runtime.ts";

/** Stores records outside the database before they are removed. */
export type Archive<R> = (records: readonly R[]) => void | Promise<void>;

/** The default time that the host may take to archive some records. */
export const ARCHIVE_DEADLINE_MS = 60_000;

/** Resolves once the host has taken the records. Rejects with its error, or after the deadline. */
export async function archived<R>(
  { clock, deadlineMs }: { readonly clock: Clock; readonly deadlineMs: number },
  archive: Archive<R> | null,
  records: readonly R[],
): Promise<void> {
  if (archive === null || records.length === 0) return;
  const inTime = new AbortController();
  const tooLong = clock.sleep(deadlineMs, inTime.signal).then(() => {
    if (!inTime.signal.aborted) throw new Error(`the archive took longer than ${deadlineMs} ms`);
  });
  try {
    await Promise.race([Promise.resolve(archive(records)), tooLong]);
  } finally {
    inTime.abort();
  }
}
