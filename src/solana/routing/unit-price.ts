/** Computes the priority fee of our own transactions, per compute unit. */
import type { PublicKey } from "@solana/web3.js";
import { ask, type Nodes } from "../ask.ts";

// One lamport a unit. A payout to six token accounts asks for about 250,000 units, so no node can make the sponsor bid
// more than 0.00025 SOL for it.
const MAX_UNIT_PRICE = 1_000_000n;

// Of the last 150 blocks, a quarter asked for more: enough to be early without following every spike.
const QUARTILE = 0.75;

/** Millionths of a lamport per compute unit, from what recent blocks asked of those who write to the same accounts. */
export async function unitPrice(nodes: Nodes, writable: readonly PublicKey[]): Promise<bigint> {
  const accounts = writable.map((key) => key.toBase58());
  const fees = await ask(nodes, ({ rpc }) => rpc.getRecentPrioritizationFees(accounts));
  const price = BigInt(fees.toSorted((a, b) => a - b)[Math.floor(fees.length * QUARTILE)] ?? 0);
  return price < MAX_UNIT_PRICE ? price : MAX_UNIT_PRICE;
}
