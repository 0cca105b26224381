/** Attempts for tests in which only their signature or their age matters. */
import type { Attempt } from "../../src/ledger/ledger.ts";

/** An attempt of others' making that nobody has sent, with what a test wants to be different. */
export function anAttempt(different: Partial<Attempt> = {}): Attempt {
  return {
    signature: "1".repeat(64),
    messageHash: "0".repeat(64),
    blockhash: "1".repeat(32),
    lastValidBlockHeight: 1,
    firstSlot: 0,
    reference: null,
    ...different,
  };
}
