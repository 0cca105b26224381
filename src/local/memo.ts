/** Reads memos: the notes that people attach to transactions. */
import { MEMO_PROGRAMS } from "../solana/programs.ts";
import type { DecodedTransaction } from "./transaction-bytes.ts";

/** All memos of a transaction as nodes list them beside its signature: "[5] hello; [2] hi". */
export function memosOf({ transaction, staticKeys }: DecodedTransaction): string | null {
  const memos = transaction.message.compiledInstructions.flatMap(({ programIdIndex, data }) =>
    MEMO_PROGRAMS.has(staticKeys[programIdIndex] ?? "") ? [`[${data.length}] ${readable(data)}`] : [],
  );
  return memos.length === 0 ? null : memos.join("; ");
}

function readable(data: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return "(unparseable)";
  }
}
