/** Everybody's accounts at both ends of a life, side by side. */
import { SOL_MINT } from "../../../src/address.ts";
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
}

/** Takes the last photograph. */
export async function openBooks(life: LivedLife): Promise<Books> {
  const { world, before } = life;
  const { chain, mints } = world;
  chain.advance(35);
  const after = await photograph(chain);
  const mintOf = (asset: Asset): string | null => (asset === "SOL" ? null : mints[asset]);
  const has: Books["has"] = (owner, asset) => possession(after, owner, mintOf(asset));
  return {
    ...life,
    after,
    mintOf,
    has,
    nameOf: (asset) => mintOf(asset) ?? SOL_MINT,
    gain: (owner, asset) => has(owner, asset) - possession(before, owner, mintOf(asset)),
  };
}
