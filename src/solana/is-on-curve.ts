/** The curve test, without web3.js: it must answer at once, and web3.js is loaded only when a node is asked. */
import { ed25519 } from "@noble/curves/ed25519";
import bs58 from "bs58";
import type { Address } from "../address.ts";

/** True when the address is a point on the curve. Non-canonical encodings do not count: no key has them. */
export function isOnCurve(address: Address): boolean {
  try {
    return isPoint(bs58.decode(address));
  } catch {
    return false;
  }
}

/** Whether an address's bytes are a point on the curve. */
export function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromHex(bytes);
    return true;
  } catch {
    return false;
  }
}
