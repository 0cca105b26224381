/** Blockhashes and how long they are valid, with mainnet's window. */
import { createHash } from "node:crypto";
import bs58 from "bs58";

/** A blockhash is valid for this many blocks after its own (MAX_PROCESSING_AGE of agave). */
export const BLOCKHASH_LIFETIME = 150;

/** How many hashes the SlotHashes sysvar lists (MAX_ENTRIES of agave). */
const SLOT_HASHES_LENGTH = 512;

/**
 * The number of slots skipped before the chain began: code that mistakes a slot for a block height fails here as on
 * mainnet.
 */
const SKIPPED_SLOTS = 100;

/** Enough for the blockhashes of a few transactions under way. */
const MAX_KNOWN = 64;

/** The number of the block in `slot`. */
export function blockHeightOf(slot: number): number {
  return slot - SKIPPED_SLOTS;
}

/** The hashes of the chain's blocks: computed from the genesis hash, the slot and the fork, never stored. */
export class BlockhashList {
  readonly #genesisHash: string;
  /** Slots after which the chain forked off, in order of the forks. */
  readonly #forks: number[] = [];
  readonly #slotByHash = new Map<string, number>();
  #cached = { from: 0, to: -1 };
  /** The hashes asked for last, by slot: nearly every blockhash that a client sends back is found here. */
  readonly #known = new Map<number, string>();

  constructor(genesisHash: string) {
    this.#genesisHash = genesisHash;
  }

  /** The hash of the block in `slot`. */
  of(slot: number): string {
    const known = this.#known.get(slot);
    if (known !== undefined) return known;
    const hash = this.#compute(slot);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(slot, hash);
    return hash;
  }

  /** The last block height at which a blockhash of `slot` is valid. */
  lastValidBlockHeight(slot: number): number {
    return blockHeightOf(slot) + BLOCKHASH_LIFETIME;
  }

  /** Whether the block in `slot` accepts the blockhash: the block's own hash or one of the 150 hashes before. */
  isValid(blockhash: string, slot: number): boolean {
    return this.#ageAt(blockhash, slot) <= BLOCKHASH_LIFETIME;
  }

  /**
   * Whether a transaction with this blockhash may be executed in the block of `slot`. The block uses its parent's list,
   * and so accepts one block more than `lastValidBlockHeight` says, as on mainnet.
   */
  isAccepted(blockhash: string, slot: number): boolean {
    return this.#ageAt(blockhash, slot) <= BLOCKHASH_LIFETIME + 1;
  }

  /** The content of the SlotHashes sysvar during `slot`: newest first, without `slot` itself. */
  slotHashesBefore(slot: number): { slot: bigint; hash: string }[] {
    return Array.from({ length: SLOT_HASHES_LENGTH }, (_, index) => slot - 1 - index).map((past) => ({
      slot: BigInt(past),
      hash: this.#compute(past),
    }));
  }

  /** Slots after `slot` now belong to another fork and have other hashes. */
  forkAfter(slot: number): void {
    this.#forks.push(slot);
    this.#slotByHash.clear();
    this.#known.clear();
    this.#cached = { from: 0, to: -1 };
  }

  /** How many blocks before `slot` the hash belongs to; infinite when it is unknown there. */
  #ageAt(blockhash: string, slot: number): number {
    const found = this.#slotOf(blockhash, slot);
    return found === undefined || found > slot ? Number.POSITIVE_INFINITY : slot - found;
  }

  #slotOf(blockhash: string, slot: number): number | undefined {
    for (const [asked, hash] of this.#known) if (hash === blockhash) return asked;
    this.#cacheUpTo(slot);
    return this.#slotByHash.get(blockhash);
  }

  #compute(slot: number): string {
    const fork = this.#forks.findLastIndex((forkedAfter) => forkedAfter < slot) + 1;
    return bs58.encode(createHash("sha256").update(`${this.#genesisHash}/${fork}/${slot}`).digest());
  }

  /** Keeps the hashes of a few windows by name; what is older is never asked for. */
  #cacheUpTo(slot: number): void {
    const from = slot - 2 * BLOCKHASH_LIFETIME;
    const isFar = from > this.#cached.to || slot - BLOCKHASH_LIFETIME - 1 < this.#cached.from;
    if (isFar || this.#slotByHash.size > 10 * BLOCKHASH_LIFETIME) {
      this.#slotByHash.clear();
      this.#cached = { from, to: from - 1 };
    }
    for (let next = this.#cached.to + 1; next <= slot; next += 1) {
      this.#slotByHash.set(this.#compute(next), next);
    }
    this.#cached.to = Math.max(this.#cached.to, slot);
  }
}
