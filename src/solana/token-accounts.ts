/** Decodes token accounts and mints, and names their token programs. */
import { addressOf, type Address } from "../core/address.ts";
import { TOKEN_ACCOUNT_BYTES, type TokenProgram } from "../ledger/routing.ts";
import { MINT_BYTES, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "./programs.ts";

export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  /** Raw units. */
  readonly amount: bigint;
}

/** The token program of this id; null for any other program. */
export function programOf(id: string): TokenProgram | null {
  if (id === TOKEN_PROGRAM) return "token";
  return id === TOKEN_2022_PROGRAM ? "token-2022" : null;
}

/** A token account whose addresses are bytes: base58 of thousands of them takes longer than all else. */
interface RawTokenAccount {
  readonly mint: Buffer;
  readonly owner: Buffer;
  readonly amount: bigint;
}

/**
 * Reads the base part of a token account, extensions unread; null when the bytes are none or it is not initialised.
 * By hand, since spl-token's layout reads its integers through bigint-buffer (GHSA-3gc7-fjrx-p6mg).
 */
export function readTokenAccount(data: Buffer): TokenAccount | null {
  const read = readRawTokenAccount(data);
  return read && { mint: addressOf(read.mint), owner: addressOf(read.owner), amount: read.amount };
}

/** See `readTokenAccount`. */
export function readRawTokenAccount(data: Buffer): RawTokenAccount | null {
  const initialised = data.length >= TOKEN_ACCOUNT_BYTES && data[108] !== 0;
  if (!initialised) return null;
  return { mint: data.subarray(0, 32), owner: data.subarray(32, 64), amount: data.readBigUInt64LE(64) };
}

/** A mint's decimals; null when the bytes are no initialised mint. */
export function readMintDecimals(data: Buffer): number | null {
  const initialised = data.length >= MINT_BYTES && data[45] === 1;
  return initialised ? data.readUInt8(44) : null;
}
