/** The answers for commits about which the database did not decide. */
import { QueryFailed } from "./compiled-queries.ts";
import type { CommitAnswer, CommitFailure } from "./storage.ts";
import { StorageUnusable } from "./storage-unusable.ts";

export function failed(error: unknown): CommitFailure {
  return { ok: false, conflict: "failed", error };
}

/** The answer for a commit that was taken back: refused where the database refused a query of the host. */
export function takenBack(error: unknown): CommitAnswer {
  const refusal = error instanceof QueryFailed ? error.refusal : null;
  return refusal === null ? failed(error) : { ok: false, conflict: "query", refusal };
}

/** The answer for a commit that may have happened. */
export function unknown(error: unknown): CommitFailure {
  return { ok: false, conflict: "unknown", error };
}

/** Whether the database was waited for in vain, which is done once. A full disk may have room for a smaller commit. */
export function isTrouble(answer: CommitAnswer): answer is CommitFailure {
  if (answer.ok) return false;
  if (answer.conflict !== "failed") return answer.conflict === "unknown";
  return answer.error instanceof StorageUnusable && /^(unavailable|replica|busy)$/.test(answer.error.code);
}
