/** Stored attempts as the ledger is asked for them, and its answers as events. */
import type { SignatureEvent } from "../../../machines/wallet-transfer.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Attempt, Landing } from "../../ledger/ledger.ts";

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

/** The event of an agreed landing. It names the signature only where that is not the attempt's own. */
export function landingEvent(attempt: Attempt, landing: Evidence<Landing>): SignatureEvent {
  const { slot, error, blockTime, fee, signature } = landing;
  const other = signature === attempt.signature ? {} : { signature };
  return { type: "FINALIZED", slot, error, blockTime, fee: fee.toString(), ...other };
}
