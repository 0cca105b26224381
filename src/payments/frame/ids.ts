/**
 * Ids: a readable prefix, the time, and 80 bits that are random where something new is named and derived where the same
 * must come out twice. Ids that begin with the time keep rows that are made together together in the database's indexes: beside
 * 100,000 rows a commit with random ids costs several times as much.
 */
import { createHash } from "node:crypto";
import type { Random } from "../../core/runtime.ts";

/** The kind of an id; accounts, hits, transfers and holds never leave the house, and `tx_test` is no transaction. */
type IdPrefix = "tx" | "tx_test" | "quote" | "wh" | "evt" | "dlv" | "acct" | "hit" | "tr" | "hold" | "audit";

/** 48 bits of milliseconds since the Unix epoch. */
const TIME_DIGITS = 12;
/** Random bytes that distinguish ids of one millisecond. */
const TAIL_BYTES = 10;

/** A new id, made `at` so many milliseconds since the Unix epoch. It tells when it was made and nothing else. */
export function newId(prefix: IdPrefix, at: number, random: Random): string {
  const time = at.toString(16).padStart(TIME_DIGITS, "0");
  return `${prefix}_${time}${Buffer.from(random.bytes(TAIL_BYTES)).toString("hex")}`;
}

/**
 * The id that these parts of a parent determine, so that repeating an act gives the same id. It has the parent's time,
 * which is the second word of the parent's id.
 */
export function derivedId(prefix: IdPrefix, parentId: string, ...parts: readonly string[]): string {
  const digits = parentId.slice(parentId.lastIndexOf("_") + 1);
  const tail = sha256Hex([parentId, ...parts].join("\n")).slice(0, TAIL_BYTES * 2);
  return `${prefix}_${digits.slice(0, TIME_DIGITS)}${tail}`;
}

/** The time of the id's making, or of its parent's: milliseconds since the Unix epoch. */
export function timeOfId(id: string): number {
  const digits = id.slice(id.lastIndexOf("_") + 1);
  return parseInt(digits.slice(0, TIME_DIGITS), 16);
}

export function sha256Hex(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
