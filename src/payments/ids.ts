/** Ids: a readable prefix and 128 bits, random where something new is named, derived where the same must come out twice. */
import { createHash } from "node:crypto";
import type { Random } from "../runtime.ts";

/** What an id names; accounts, hits and payments never leave the house, and `tx_test` is no transaction. */
export type IdPrefix = "tx" | "tx_test" | "quote" | "wh" | "evt" | "dlv" | "acct" | "hit" | "pay" | "audit";

const ID_BYTES = 16;

/** A new id of 128 random bits. */
export function newId(prefix: IdPrefix, random: Random): string {
  return `${prefix}_${Buffer.from(random.bytes(ID_BYTES)).toString("hex")}`;
}

/** The one id that belongs to these parts, so that doing the same thing twice names the same thing. */
export function derivedId(prefix: IdPrefix, ...parts: readonly string[]): string {
  return `${prefix}_${sha256Hex(parts.join("\n")).slice(0, ID_BYTES * 2)}`;
}

/** SHA-256 as lowercase hexadecimal. */
export function sha256Hex(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
