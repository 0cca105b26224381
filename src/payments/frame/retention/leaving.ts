/** Transactions that go: their notices go first, in separate commits, since one may have gone to many webhooks. */
import type { EngineStorage } from "../../../../storage/storage.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import type { AttemptRecord } from "../tables/attempts.ts";
import { isFinalStatus, type TransactionRecord } from "../tables/orders.ts";
import type { Removal, RemovingParts } from "./removal.ts";

/** Dependencies of removing what notices were told of. */
export interface LeavingParts<Storage extends EngineStorage = FrameStorage> extends RemovingParts<Storage> {
  /** The removals of a transaction's notices; null while one of them has to stay. */
  readonly noticeRemovals: (transactionId: string, until: number) => Promise<readonly Removal[] | null>;
}

/** Whether the transaction may be removed; a transaction that waits for an operator is open. */
export function canGo({ status, attention }: TransactionRecord): boolean {
  return attention === null && isFinalStatus(status);
}

/**
 * The rest of signed bytes after their removal. An order that is brought back begins its transfers anew, under the same ids.
 */
export function forgotten({ id }: Pick<AttemptRecord, "id">): FrameWrite {
  return { table: "attempts", id, set: { bytes: NOTHING, legs: null, transfer: null } };
}

/**
 * The empty bytes that replace signed bytes: only the signature and the hash of the message stay, which are unique.
 * With both the database refuses the same bytes for good; only a node says that the bytes have expired, and the payment
 * of one order must not count for two.
 */
const NOTHING = new Uint8Array();
