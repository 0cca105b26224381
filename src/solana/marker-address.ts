/** Derives where the markers of an order lie: its address tells. Without web3.js, which is loaded only when a node is asked. */
import { createHash } from "node:crypto";
import bs58 from "bs58";
import { addressOf, type Address } from "../core/address.ts";

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
