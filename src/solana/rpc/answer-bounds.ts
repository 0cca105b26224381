/** The most bytes that an honest answer to a call may have, by what the call asks for: the rest is not read. */
import { isObject, type WrittenCall } from "./rpc-call.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** The frame of JSON-RPC with some numbers or hashes in it, or an error in their place. */
const FRAME = KIB;
/** An account without its data; a status; an entry of a list without its memo. Twice as much as nodes write today. */
const ENTRY = 512;
/** A transaction of version 1 full of characters that JSON writes as six. */
const LONGEST_MEMO = 24 * KIB;
/** Entries of a list whose memos may all be the longest. */
export const MOST_WITH_MEMOS = 32;
/** The accounts of one owner, some nine thousand: each costs a stranger its rent. */
const OWNED_ACCOUNTS = 4 * MIB;
/** 63 calls between programs of 10 KiB in base58, 10 KiB of logs in escapes, and the balances of 256 accounts. */
const TRANSACTION = 1.25 * MIB;
/** The accounts of each of some ten thousand transactions. */
const BLOCK = 8 * MIB;
/** Of each of the last 150 blocks. */
const PRIORITY_FEES = 16 * KIB;
/** Logs and balances of a run. */
const RUN = 256 * KIB;
/** An account after a run, which cannot be cut: programs make none longer than 10 KiB. */
const ACCOUNT_AFTER_RUN = 16 * KIB;
const SLOT = 16;
const BATCH = 4 * MIB;

/** The bytes of an answer to these calls at most. A batch whose answers have more is asked for again one by one. */
export function answerBound(calls: readonly Pick<WrittenCall, "method" | "params">[]): number {
  const bounds = calls.map((call) => FRAME + contentOf(call));
  const sum = bounds.reduce((total, bound) => total + bound, 0);
  return Math.max(...bounds, Math.min(sum, BATCH));
}

function contentOf({ method, params }: Pick<WrittenCall, "method" | "params">): number {
  const [first, second] = params;
  const items = Array.isArray(first) ? first.length : 1;
  const { dataSlice, limit, accounts } = objectIn(params.at(-1));
  switch (method) {
    case "getAccountInfo":
    case "getMultipleAccounts":
      return items * (ENTRY + Math.ceil(Number(objectIn(dataSlice)["length"] ?? 0) / 3) * 4);
    case "getTokenAccountsByOwner":
      return OWNED_ACCOUNTS;
    case "getSignatureStatuses":
      return items * ENTRY;
    case "getSignaturesForAddress":
      return Number(limit ?? 1_000) * ENTRY + MOST_WITH_MEMOS * LONGEST_MEMO;
    case "getTransaction":
      return TRANSACTION;
    case "getBlocks":
      return (Number(second) - Number(first) + 1) * SLOT;
    case "getBlock":
      return BLOCK;
    case "getRecentPrioritizationFees":
      return PRIORITY_FEES;
    case "simulateTransaction":
      return RUN + [objectIn(accounts)["addresses"] ?? []].flat().length * ACCOUNT_AFTER_RUN;
    default:
      return 0;
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
