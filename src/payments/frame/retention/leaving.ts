/** Transactions that go, whose notices go first: in separate commits, since a notice may have gone to many webhooks. */
import type { EngineStorage } from "../../../../storage/storage.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import type { AttemptRecord } from "../tables/attempts.ts";
import { isFinalStatus, type TransactionRecord } from "../tables/orders.ts";
import { carryOut, type Removal, type RemovingParts, type RetentionState } from "./removal.ts";

/** Dependencies of removing what notices were told of. */
export interface LeavingParts<Storage extends EngineStorage = FrameStorage> extends RemovingParts<Storage> {
  /** The removals of a transaction's notices; null while one of them has to stay. */
  readonly noticeRemovals: (transactionId: string, until: number) => Promise<readonly Removal[] | null>;
}

/** A row that may go with all that belongs to it. */
export interface Leaving {
  readonly notices: readonly Removal[];
  readonly removal: () => Promise<Removal>;
}

/** Whether the transaction may be removed; a transaction that waits for an operator is open. */
export function canGo({ status, attention }: TransactionRecord): boolean {
  return attention === null && isFinalStatus(status);
}

/** What stays of signed bytes. An order that is brought back begins its transfers anew, under the same ids. */
export function forgotten({ id }: Pick<AttemptRecord, "id">): FrameWrite {
  return { table: "attempts", id, set: { bytes: NOTHING, legs: null, transfer: null } };
}

/**
 * The empty bytes that replace signed bytes: only the signature and the hash of the message stay, which are unique.
 * With both the database refuses the same bytes for good; only a node says that the bytes have expired, and the payment
 * of one order must not count for two.
 */
const NOTHING = new Uint8Array();

/** All of a page together: the commits of many at once, and not the round trips of one after another. */
export async function removeLeaving(
  parts: RemovingParts<EngineStorage>,
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
