/**
 * Reads how long a blockhash will still be accepted, a fresh one or that of a caller's transaction, and how far the chain is.
 */
import type { Evidence } from "../ledger/belief.ts";
import type { LandingWindow } from "../ledger/ledger.ts";
import { differ, follows, untilAgreed, weigh } from "./agree.ts";
import { ask, type NodeContext, type EndpointCall } from "./ask.ts";
import type { FirmCommitment } from "../ledger/reading.ts";
import type { RoutingLedger } from "../ledger/routing.ts";
import type { Endpoint } from "./endpoint.ts";

// A transaction is accepted while its blockhash is among the newest 150 (MAX_PROCESSING_AGE): a rule of the protocol
// that no RPC method tells. It is counted in blocks, so a change of slot time does not touch it.
export const BLOCKHASH_LIFE_BLOCKS = 150;
// The slots in which 150 blocks are made, with room for skipped ones: so far back a blockhash of others may have been
// made, and its transaction may have landed.
const BLOCKHASH_LIFE_SLOTS = 600;
// Two or three blocks of the 150: all that is built within a second may live as long.
const NEWEST_FOR_MS = 1_000;
// At most one new blockhash a second, so that this memory reaches back further than any blockhash lives.
const MAX_HANDED_OUT = 300;
// Two minutes. Endpoints further apart than this are not at the same end of one chain.
const MAX_BLOCKS_AHEAD = 300;

// A window is counted from when its blockhash was shown alive: one of a moment ago ends no later, and no earlier than the true
// one. So all payments over one blockhash share it, for less than a block takes: whether it is valid changes with a block.
const KNOWN_FOR_MS = 350;
// The oldest of these are forgotten first, and are looked at anew then.
const MAX_DEAD = 1_000;

/**
 * When a transaction over `blockhash` can land, or null when the blockhash is no longer (or never was) valid. One node
 * that knows the blockhash makes it valid, since a lagging node does not know the newest blockhashes.
 *
 * Throws `LedgerUnavailable` where too few endpoints answer or have caught up, and `EndpointsDifferError` where enough of them are not near the
 * furthest one: bytes without a marker would be pronounced dead too early, or never.
 */
export async function landingWindow(
  nodes: NodeContext,
  blockhash: string,
): Promise<Evidence<LandingWindow> | null> {
  return await nodes.remembered(`window ${keyOf(nodes, blockhash)}`, KNOWN_FOR_MS, () =>
    windowOf(nodes, blockhash),
  );
}

/** Names what is known of a blockhash by the word of these endpoints: fewer of them may have been enough for another answer. */
function keyOf({ endpoints, witnesses }: NodeContext, blockhash: string): string {
  return [blockhash, witnesses, ...endpoints.map(({ name }) => name)].join(" ");
}

async function windowOf(nodes: NodeContext, blockhash: string): Promise<Evidence<LandingWindow> | null> {
  const madeAt = nodes.handedOut.get(blockhash);
  const words = await wordsOfLiving(nodes, blockhash);
  return (
    words &&
    follows(words, () => {
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
    })
  );
}

const CHAIN_END = "the end of the chain";

/** The answer of one endpoint about a blockhash, and the end of its chain, at confirmed. */
interface BlockhashWord {
  readonly endpoint: string;
  readonly isValid: boolean;
  /** The slot at which the endpoint gave that answer. */
  readonly judgedAt: number;
  /** The highest slot that the endpoint told, and a height that is at least that of its block. */
  readonly slot: number;
  readonly height: number;
}

/**
 * The answers of enough endpoints, one of which knows the blockhash; null once it is dead. It is dead when enough endpoints
 * say so at a slot that enough of them had reached at the beginning. Behind one URL the nodes that have not reached
 * it yet may be all that were met at first. So a blockhash that was not handed out here is dead only after they have caught
 * up. A blockhash found dead is remembered, so that a made-up one costs one look.
 */
async function wordsOfLiving(
  nodes: NodeContext,
  blockhash: string,
): Promise<Evidence<readonly BlockhashWord[]> | null> {
  const key = keyOf(nodes, blockhash);
  if (nodes.deadBlockhashes.has(key)) return null;
  const madeAt = nodes.handedOut.get(blockhash) ?? Infinity;
  const question = questionOf(blockhash);
  let reachedAtFirst: number | undefined;
  return await untilAgreed(nodes, async (hasCaughtUp) => {
    const words = await weigh(nodes, { of: "landingWindow", question }, (all) => all);
    if (words.some(({ isValid }) => isValid)) return words;
    reachedAtFirst ??= furthestAndReached(nodes, words, "slot")[1];
    const from = Math.max(reachedAtFirst, hasCaughtUp ? 0 : madeAt);
    if (words.filter(({ judgedAt }) => judgedAt >= from).length < nodes.witnesses) return undefined;
    nodes.deadBlockhashes.add(key);
    const [oldest] = nodes.deadBlockhashes;
    if (nodes.deadBlockhashes.size > MAX_DEAD && oldest !== undefined) nodes.deadBlockhashes.delete(oldest);
    return null;
  });
}

/** Whether a blockhash is dead, as enough endpoints say. Throws as `landingWindow` does where too few have caught up. */
export async function isDead(nodes: NodeContext, blockhash: string): Promise<boolean> {
  return (await wordsOfLiving(nodes, blockhash)) === null;
}

/** The question for a blockhash. The end of an endpoint's chain is asked once for all tries of one look. */
function questionOf(blockhash: string): EndpointCall<BlockhashWord> {
  const ends = new Map<string, NewestBlock>();
  return async (endpoint) => {
    const [{ context, value }, end] = await Promise.all([
      endpoint.rpc.isBlockhashValid(blockhash, { commitment: "confirmed" }),
      ends.get(endpoint.name) ?? confirmedEnd(endpoint),
    ]);
    ends.set(endpoint.name, end);
    const slot = Math.max(context.slot, end.slot);
    // One URL may stand for many nodes, and the height may come from one that is behind: too low a height would pronounce the
    // transaction dead too early. A chain makes at most one block a slot.
    const height = end.blockHeight + slot - end.slot;
    return { endpoint: endpoint.name, isValid: value, judgedAt: context.slot, slot, height };
  };
}

/**
 * From the slot that as many endpoints as must agree have reached, to the end of a blockhash that the furthest one has just made.
 * Null where fewer are near the furthest one.
 */
function windowBetween(nodes: NodeContext, words: readonly BlockhashWord[]): LandingWindow | null {
  const [slot, reachedSlot] = furthestAndReached(nodes, words, "slot");
  const [height, reachedHeight] = furthestAndReached(nodes, words, "height");
  if (slot - reachedSlot > BLOCKHASH_LIFE_SLOTS || height - reachedHeight > MAX_BLOCKS_AHEAD) return null;
  return { firstSlot: reachedSlot, lastValidBlockHeight: height + BLOCKHASH_LIFE_BLOCKS };
}

function furthestAndReached(
  { witnesses }: NodeContext,
  words: readonly BlockhashWord[],
  of: "slot" | "height",
): readonly [number, number] {
  const sorted = words.map((word) => word[of]).toSorted((one, other) => other - one);
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

export interface NewestBlock {
  readonly slot: number;
  readonly blockHeight: number;
}

/** See `RoutingLedger.heights`. */
export async function heights(
  nodes: NodeContext,
  commitment: FirmCommitment,
): ReturnType<RoutingLedger["heights"]> {
  return await weigh(nodes, { of: "heights", question: endAt(commitment) }, (told) => {
    const found = told.map(({ blockHeight }) => blockHeight);
    return { agreed: agreedHeight(nodes, found), highest: Math.max(...found) };
  });
}

/** The height that as many endpoints as must agree have reached. */
function agreedHeight({ witnesses }: Pick<NodeContext, "witnesses">, told: readonly number[]): number {
  return told.toSorted((one, other) => other - one)[witnesses - 1] ?? Math.min(...told);
}

export const finalizedEnd = endAt("finalized");
const confirmedEnd = endAt("confirmed");

/** Reads slot and height in one answer: two answers could come from two nodes behind one name. */
function endAt(commitment: FirmCommitment): (endpoint: Pick<Endpoint, "rpc">) => Promise<NewestBlock> {
  return async ({ rpc }) => {
    const { absoluteSlot, blockHeight } = await rpc.getEpochInfo(commitment);
    return { slot: absoluteSlot, blockHeight };
  };
}
