/** Decodes token accounts and mints, and tells how much of an account's money its owner can move. */
import { addressOf, type Address } from "../core/address.ts";
import { TOKEN_ACCOUNT_BYTES, type TokenProgram } from "../ledger/routing.ts";
import { MINT_BYTES, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, SYSTEM_PROGRAM } from "./programs.ts";
import type { Account as AccountTold } from "./rpc/account.ts";
import { expectShape } from "./endpoint-failure.ts";

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

type Account = AccountTold | null | undefined;

/** Lamports that a plain transfer can move: zero for an account with data or of a program other than System. */
export function lamportsIn(account: Account): bigint {
  if (account?.owner !== SYSTEM_PROGRAM || account.data.length > 0) return 0n;
  expectShape(Number.isInteger(account.lamports) && account.lamports >= 0, "balance");
  return BigInt(account.lamports);
}

/**
 * Raw units of `mint` that `owner` holds in a token account of the Token program. Zero when the account now belongs to
 * a different owner. A frozen balance counts in full, although it cannot move.
 */
export function unitsIn(account: Account, owner: Address, mint: Address): bigint {
  if (account?.owner !== TOKEN_PROGRAM) return 0n;
  const held = readTokenAccount(account.data);
  return held?.mint === mint && held.owner === owner ? held.amount : 0n;
}

/** Raw units of `mint` in the account of either token program, whoever owns the account. */
export function unitsOfAnybody(account: Account, mint: Address): bigint {
  if (account === null || account === undefined || programOf(account.owner) === null) return 0n;
  const held = readTokenAccount(account.data);
  return held?.mint === mint ? held.amount : 0n;
}

// The state byte of a token account: 0 not initialised, 1 in use, 2 frozen.
const STATE_AT = 108;
const FROZEN = 2;

export function isFrozen({ data }: { readonly data: Buffer }): boolean {
  return data[STATE_AT] === FROZEN;
}
