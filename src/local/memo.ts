/** Reads memos: the notes that people attach to transactions. */
import { MEMO_PROGRAMS } from "../solana/programs.ts";
import { utf8 } from "./byte-reader.ts";
import type { DecodedTransaction } from "./transaction-bytes.ts";

/** Whether the address is one of the memo programs. */
export function isMemoProgram(address: string): boolean {
  return MEMO_PROGRAMS.has(address);
}

/** All memos of a transaction as nodes list them beside its signature: "[5] hello; [2] hi". */
export function memosOf({ transaction, staticKeys }: DecodedTransaction): string | null {
  const memos = transaction.message.compiledInstructions.flatMap(({ programIdIndex, data }) =>
    isMemoProgram(staticKeys[programIdIndex] ?? "") ? [`[${data.length}] ${readable(data)}`] : [],
  );
  return memos.length === 0 ? null : memos.join("; ");
}

function readable(data: Uint8Array): string {
  try {
    return utf8(data);
  } catch {
    return "(unparseable)";
  }
}
