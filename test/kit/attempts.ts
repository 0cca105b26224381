/** Attempts for tests in which only their signature or their age matters. */
import type { Attempt } from "../../src/ledger/ledger.ts";

/** One signature of zeros over a message without instructions, whose fee payer is the only account. */
const ANY_BYTES = Uint8Array.from([
  1,
  ...Array<number>(64).fill(0),
  1,
  0,
  0,
  1,
  ...Array<number>(64).fill(9),
  0,
]);

/** An attempt of others' making that nobody has sent, with what a test wants to be different. */
export function anAttempt(different: Partial<Attempt> = {}): Attempt {
  return {
    signature: "1".repeat(64),
    bytes: ANY_BYTES,
    messageHash: "0".repeat(64),
    blockhash: "1".repeat(32),
    lastValidBlockHeight: 1,
    firstSlot: 0,
    reference: null,
    ...different,
  };
}
