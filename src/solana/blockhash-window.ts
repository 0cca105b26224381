/**
 * Reads how long a blockhash will still be accepted: a fresh blockhash, or the blockhash in a caller's transaction.
 */
import type { Evidence } from "../ledger/belief.ts";
import type { LandingWindow } from "../ledger/ledger.ts";
import { differ, weigh } from "./agree.ts";
import { ask, type NodeContext, type EndpointCall } from "./ask.ts";

// A transaction is accepted while its blockhash is among the newest 150 (MAX_PROCESSING_AGE): a rule of the protocol
// that no RPC method tells. It is counted in blocks, so a change of slot time does not touch it.
const BLOCKHASH_LIFE_BLOCKS = 150;
// The slots in which 150 blocks are made, with room for skipped ones: so far back a blockhash of others may have been
// made, and its transaction may have landed.
const BLOCKHASH_LIFE_SLOTS = 600;
// Two or three blocks of the 150: all that is built within a second may live as long.
const NEWEST_FOR_MS = 1_000;
// At most one new blockhash a second, so that this memory reaches back further than any blockhash lives.
const MAX_HANDED_OUT = 300;
// Two minutes. Endpoints further apart than this are not at the same end of one chain.
const MAX_BLOCKS_AHEAD = 300;

/**
 * When a transaction over `blockhash` can land, or null when the blockhash is no longer (or never was) valid. One node
 * that knows the blockhash makes it valid, since a lagging node does not know the newest blockhashes.
 *
 * Throws `LedgerUnavailable` where too few endpoints answer, and `EndpointsDifferError` where enough of them are not near the
 * furthest one: bytes without a marker would be pronounced dead too early, or never.
 */
export async function landingWindow(
  nodes: NodeContext,
  blockhash: string,
): Promise<Evidence<LandingWindow> | null> {
  const madeAt = nodes.handedOut.get(blockhash);
  return await weigh(nodes, wordOf(blockhash), (words) => {
    if (!words.some(({ isValid }) => isValid)) return null;
    const window = windowBetween(nodes, words);
    if (window === null) {
      const endpoints = words.map(({ endpoint }) => endpoint);
      throw differ(nodes, CHAIN_END, endpoints);
    }
    nodes.disputes.end(CHAIN_END);
    const { firstSlot, lastValidBlockHeight } = window;
    return {
      firstSlot: Math.min(firstSlot, madeAt ?? firstSlot - BLOCKHASH_LIFE_SLOTS),
      lastValidBlockHeight,
    };
  });
}

const CHAIN_END = "the end of the chain";

/** The answer of one endpoint about a blockhash, and its position, at confirmed. */
interface BlockhashWord {
  readonly endpoint: string;
  readonly isValid: boolean;
  readonly slot: number;
  readonly height: number;
}

function wordOf(blockhash: string): EndpointCall<BlockhashWord> {
  return async ({ rpc, name }) => {
    const { context, value } = await rpc.isBlockhashValid(blockhash, { commitment: "confirmed" });
    // One URL may stand for many nodes: the height must come from one that is at least as far, or the transaction would
    // be pronounced dead too early.
    const height = await rpc.getBlockHeight({ commitment: "confirmed", minContextSlot: context.slot });
    return { endpoint: name, isValid: value, slot: context.slot, height };
  };
}

/**
 * From the slot that as many endpoints as must agree have reached, to the end of a blockhash that the furthest one has just made.
 * Null where fewer are near the furthest one.
 */
function windowBetween({ witnesses }: NodeContext, ends: readonly BlockhashWord[]): LandingWindow | null {
  const [slot, reachedSlot] = furthestAndReached(
    witnesses,
    ends.map((end) => end.slot),
  );
  const [height, reachedHeight] = furthestAndReached(
    witnesses,
    ends.map((end) => end.height),
  );
  if (slot - reachedSlot > BLOCKHASH_LIFE_SLOTS || height - reachedHeight > MAX_BLOCKS_AHEAD) return null;
  return { firstSlot: reachedSlot, lastValidBlockHeight: height + BLOCKHASH_LIFE_BLOCKS };
}

function furthestAndReached(witnesses: number, told: readonly number[]): readonly [number, number] {
  const sorted = told.toSorted((one, other) => other - one);
  return [sorted[0] ?? Infinity, sorted[witnesses - 1] ?? -Infinity];
}

/** A blockhash, and when a transaction over it can land. */
interface NewestBlockhash extends LandingWindow {
  readonly blockhash: string;
}

/**
 * A confirmed blockhash, for a transaction that we build: the newest of a moment ago, and one node's word on how long it
 * will be accepted. When it was handed out is remembered, because the caller who signs over it submits it later.
 */
export async function newestBlockhash(nodes: NodeContext): Promise<NewestBlockhash> {
  return await nodes.remembered("newest blockhash", NEWEST_FOR_MS, async () => {
    const { context, value } = await ask(nodes, ({ rpc }) => rpc.getLatestBlockhash("confirmed"));
    const { handedOut } = nodes;
    handedOut.set(value.blockhash, context.slot);
    const [oldest] = handedOut.keys();
    if (handedOut.size > MAX_HANDED_OUT && oldest !== undefined) handedOut.delete(oldest);
    return { ...value, firstSlot: context.slot };
  });
}
