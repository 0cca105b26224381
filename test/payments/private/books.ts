/** Everybody's accounts at both ends of a life, side by side. */
// modules: private
import { SOL_MINT, type Address } from "../../../src/core/address.ts";
import { markerOf, markerOwner } from "../../../src/solana/derived-addresses.ts";
import type { LivedOrder } from "./lived-order.ts";
import type { LivedLife } from "./live-through.ts";
import { photograph, possession, type Photograph } from "./photograph.ts";
import type { Asset } from "./random-life.ts";

/** A life that is over, and who has what by the chain. */
export interface Books extends LivedLife {
  readonly after: Photograph;
  /** As the chain has it: null for SOL. */
  readonly mintOf: (asset: Asset) => string | null;
  /** As our own database has it. */
  readonly nameOf: (asset: Asset) => string;
  /** What an owner has at the end, and how much more than in the beginning. */
  readonly has: (owner: string, asset: Asset) => bigint;
  readonly gain: (owner: string, asset: Asset) => bigint;
  /** The length of an order's marker by its seed; null where none stands. */
  readonly marker: (order: Pick<LivedOrder, "address">, seed: string) => number | null;
}

/** Takes the last photograph. */
export async function openBooks(life: LivedLife): Promise<Books> {
  const { world, before, orders } = life;
  const { chain, mints } = world;
  chain.advance(35);
  const owners = orders.map(({ address }) => markerOwner(address as Address));
  const after = await photograph(chain, owners);
  const lengths = new Map(
    after.accounts
      .filter(({ program }) => owners.includes(program as Address))
      .map((each) => [each.address, each.length]),
  );
  const mintOf = (asset: Asset): string | null => (asset === "SOL" ? null : mints[asset]);
  const has: Books["has"] = (owner, asset) => possession(after, owner, mintOf(asset));
  return {
    ...life,
    after,
    mintOf,
    has,
    nameOf: (asset) => mintOf(asset) ?? SOL_MINT,
    marker: ({ address }, seed) => lengths.get(markerOf(address as Address, seed)) ?? null,
    gain: (owner, asset) => has(owner, asset) - possession(before, owner, mintOf(asset)),
  };
}
