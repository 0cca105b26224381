/** Stored attempts as the ledger is asked for them. */
import type { AttemptRecord } from "../tables/attempts.ts";
import type { Attempt } from "../../../ledger/ledger.ts";

export function attemptOf({
  id,
  bytes,
  messageHash,
  blockhash,
  lastValidBlockHeight,
  firstSlot,
  reference,
}: AttemptRecord): Attempt {
  return {
    signature: id,
    bytes,
    messageHash,
    blockhash,
    lastValidBlockHeight,
    firstSlot,
    reference,
  };
}

/** An attempt whose row is lost: how it landed can still be asked for, whether it is dead cannot. */
export function lostAttempt(signature: string): Attempt {
  const unknown = { bytes: new Uint8Array(), messageHash: "", blockhash: "", reference: null };
  return { signature, ...unknown, lastValidBlockHeight: Number.MAX_SAFE_INTEGER, firstSlot: 0 };
}
