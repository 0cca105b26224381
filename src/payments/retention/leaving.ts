/** What goes together with its notices: these are removed before it, in separate commits, since a notice may have gone to many webhooks. */
import type { PaymentStorage } from "../frame/payment-storage.ts";
import { noticeRemoval } from "./old-notices.ts";
import { carryOut, type Removal, type RemovingParts, type RetentionState } from "./removal.ts";

/** A row that may go with all that belongs to it. */
export interface Leaving {
  readonly notices: readonly Removal[];
  readonly removal: () => Promise<Removal>;
}

/** The removals of a transaction's notices; null while one of them has to stay. */
export async function noticeRemovals(
  storage: PaymentStorage,
  transactionId: string,
  until: number,
): Promise<readonly Removal[] | null> {
  const told = await storage.notices(transactionId);
  const notices = await Promise.all(told.map((each) => noticeRemoval(storage, each, until)));
  const whole = notices.filter((removal) => removal !== null);
  return whole.length < notices.length ? null : whole;
}

/** All of a page together: the commits of many at once, and not the round trips of one after another. */
export async function removeLeaving(
  parts: RemovingParts,
  looked: readonly (Leaving | "stays" | "later")[],
): Promise<readonly RetentionState[]> {
  const leaving = looked.filter((each) => typeof each === "object");
  const gone = await carryOut(
    parts,
    leaving.flatMap(({ notices }) => notices),
  );
  let next = 0;
  const bare = leaving.filter(({ notices }) =>
    notices.map(() => gone[next++] === true).every((isGone) => isGone),
  );
  const removed = await carryOut(parts, await Promise.all(bare.map(({ removal }) => removal())));
  const left = new Set(bare.filter((_, index) => removed[index] === true));
  return looked.map((each) => (typeof each === "string" ? each : left.has(each) ? "gone" : "later"));
}
