/** A storage that remembers what went through it, so that a run can be judged afterwards. */
import type { ClaimedTask, Commit } from "../../storage/storage.ts";
import type { PaymentStorage, PaymentTables } from "../../src/payments/payment-storage.ts";

/** A commit that succeeded, and when. */
export interface LoggedCommit {
  readonly at: number;
  readonly commit: Commit<PaymentTables>;
}

/** All that succeeded on one database, over every recorded handle. */
export interface StorageLog {
  readonly commits: LoggedCommit[];
  readonly claims: ClaimedTask[];
}

/** The same storage; its successful commits and claims are added to the log. */
export function recordStorage(storage: PaymentStorage, log: StorageLog, now: () => number): PaymentStorage {
  return {
    ...storage,
    async commit(items) {
      const at = now();
      const results = await storage.commit(items);
      items.forEach((commit, index) => {
        if (results[index]?.ok === true) log.commits.push({ at, commit });
      });
      return results;
    },
    async claim(request) {
      const claimed = await storage.claim(request);
      log.claims.push(...claimed);
      return claimed;
    },
  };
}
