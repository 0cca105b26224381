/** Derives the addresses of token accounts and markers. Without web3.js, which is loaded only when a node is asked. */
import { createHash } from "node:crypto";
import bs58 from "bs58";
import { addressOf, type Address } from "../core/address.ts";
import type { TokenProgram } from "../ledger/routing.ts";
import { ASSOCIATED_TOKEN_PROGRAM, PROGRAM_ID } from "./programs.ts";
import { ed25519 } from "@noble/curves/ed25519";

/** True when the address is a point on the curve. Non-canonical encodings do not count: no key has them. */
export function isOnCurve(address: Address): boolean {
  try {
    return isPoint(bs58.decode(address));
  } catch {
    return false;
  }
}

/** Whether an address's bytes are a point on the curve. */
function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromHex(bytes);
    return true;
  } catch {
    return false;
  }
}

// Deriving takes a third of a millisecond of hashing and curve arithmetic, and an order asks for the same few accounts
// again and again. Callers that follow many addresses for long keep the answers themselves. This many take about 1 MB.
const MAX_REMEMBERED = 4_000;
const remembered = new Map<string, Derived>();

/** An address that no key has. */
interface Derived {
  readonly address: Address;
  /** The bump seed at which the search, from 255 down, ended. */
  readonly bump: number;
}

/** The one address at which `owner` keeps `mint` by convention (the associated token account, ATA). */
export function associatedTokenAccount(
  owner: string,
  mint: string,
  program: TokenProgram = "token",
): Address {
  return derived(owner, mint, PROGRAM_ID[program]).address;
}

/**
 * The number of bump seeds that fail before the address is found: the associated token program tries and pays for the
 * same seeds.
 */
export function triesInVain(owner: string, mint: string, programId: string): number {
  return MAX_BUMP - derived(owner, mint, programId).bump;
}

function derived(owner: string, mint: string, programId: string): Derived {
  const key = `${owner} ${mint} ${programId}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const found = derive(owner, mint, programId);
  const [oldest] = remembered.keys();
  if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  remembered.set(key, found);
  return found;
}

// The chain's suffix to the seeds of an address that no key has.
const MARK = "ProgramDerivedAddress";
const MAX_BUMP = 255;

/** The chain's rule: the first hash, by the bump that counts down, that is no point on the curve. */
function derive(owner: string, mint: string, programId: string): Derived {
  const seeds = createHash("sha256");
  for (const part of [owner, programId, mint]) seeds.update(bs58.decode(part));
  const end = Buffer.concat([bs58.decode(ASSOCIATED_TOKEN_PROGRAM), Buffer.from(MARK)]);
  for (let bump = MAX_BUMP; bump >= 0; bump--) {
    const hash = seeds.copy().update(Uint8Array.of(bump)).update(end).digest();
    if (!isPoint(hash)) return { address: addressOf(hash), bump };
  }
  throw new Error(`no token account can be derived for ${owner}`);
}

const OWNER_OF = "paystate marker/1";

/**
 * The owner of an order's markers: a hash, so that no key and no program has this address, and nobody can change, move or
 * close what it owns.
 */
export function markerOwner(order: Address): Address {
  return addressOf(createHash("sha256").update(OWNER_OF, "ascii").update(bs58.decode(order)).digest());
}

// Another spelling, such as 01, would be a second marker of the same chunk.
const SEED = /^(?:0|[1-9]\d{0,2}|r\d)$/;

/** See `RoutingLedger.markerOf`. The System program derives the same of base, seed and owner. */
export function markerOf(order: Address, seed: string): Address {
  if (!SEED.test(seed)) {
    throw new RangeError(`the seed of a marker must be 0 to 999 or r0 to r9, got ${JSON.stringify(seed)}`);
  }
  const owner = bs58.decode(markerOwner(order));
  return addressOf(createHash("sha256").update(bs58.decode(order)).update(seed).update(owner).digest());
}

/** Thirteen members can be paid in so many ways: no outcome takes more bytes. */
export const LONGEST_MARKER = 2 ** 13;
