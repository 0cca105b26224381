/** Reads how long a blockhash will still be accepted: one that we chose, or one that a caller did. */
import type { Agreed } from "../ledger/belief.ts";
import type { LandingWindow } from "../ledger/ledger.ts";
import { differ, follows, gather, weigh } from "./agree.ts";
import { ask, type Nodes, type Question } from "./ask.ts";

// A transaction is accepted while its blockhash is among the newest 150 (MAX_PROCESSING_AGE): a rule of the protocol
// that no RPC method tells. It is counted in blocks, so a change of slot time does not touch it.
const BLOCKHASH_LIFE_BLOCKS = 150;
// The slots in which 150 blocks are made, with room for skipped ones: so far back a blockhash of others may have been
// made, and its transaction may have landed.
const BLOCKHASH_LIFE_SLOTS = 600;
// Two or three blocks of the 150: all that is built within a second may live as long.
const NEWEST_FOR_MS = 1_000;
// A new one every second at most, so that these reach back further than any blockhash lives.
const MAX_HANDED_OUT = 300;
// Two minutes. Endpoints further apart than this are not at the same end of one chain.
const MAX_BLOCKS_AHEAD = 300;

/** How far one endpoint is, at confirmed. */
interface ChainEnd {
  readonly endpoint: string;
  readonly slot: number;
  readonly height: number;
}

/**
 * When a transaction over `blockhash` can land, or null when the blockhash is no longer (or never was) valid. Any one node that
 * knows the blockhash makes it valid, for a node that lags does not know the newest ones.
 *
 * Throws `LedgerUnavailable` where too few endpoints answer, and `EndpointsDiffer` where enough of them are not near the
 * furthest one: bytes without a marker would be pronounced dead too early, or never.
 */
export async function landingWindow(nodes: Nodes, blockhash: string): Promise<Agreed<LandingWindow> | null> {
  return (await windowOfOurs(nodes, blockhash)) ?? (await windowOfAny(nodes, blockhash));
}

/** Null for a blockhash that we have not handed out lately, or that is too old. */
async function windowOfOurs(nodes: Nodes, blockhash: string): Promise<Agreed<LandingWindow> | null> {
  const known = nodes.handedOut.get(blockhash);
  if (known === undefined) return null;
  const newest = await newestBlockhash(nodes);
  const isAlive = newest.lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS <= known.lastValidBlockHeight;
  return isAlive ? known : null;
}

/**
 * When the blockhash was made is unknown: for the last height it is taken to have been made in the newest block, for the
 * first slot to be as old as a valid one can be.
 */
async function windowOfAny(nodes: Nodes, blockhash: string): Promise<Agreed<LandingWindow> | null> {
  return await weigh(nodes, wordOf(blockhash), (words) => {
    if (!words.some(({ isValid }) => isValid)) return null;
    const window = windowBetween(nodes, words);
    if (window === null) {
      const endpoints = words.map(({ endpoint }) => endpoint);
      throw differ(nodes, CHAIN_END, endpoints);
    }
    nodes.disputes.end(CHAIN_END);
    return { ...window, firstSlot: Math.max(0, window.firstSlot - BLOCKHASH_LIFE_SLOTS) };
  });
}

const CHAIN_END = "the end of the chain";

/** What one endpoint tells of a blockhash. */
interface BlockhashWord extends ChainEnd {
  readonly isValid: boolean;
}

function wordOf(blockhash: string): Question<BlockhashWord> {
  return async ({ rpc, name }) => {
    const { context, value } = await rpc.isBlockhashValid(blockhash, { commitment: "confirmed" });
    // Behind one URL there may be many nodes: the height must come from one that is at least as far, or the
    // transaction would be pronounced dead too early.
    const height = await rpc.getBlockHeight({ commitment: "confirmed", minContextSlot: context.slot });
    return { endpoint: name, isValid: value, slot: context.slot, height };
  };
}

/**
 * From the slot that as many endpoints as must agree have reached, to the end of a blockhash that the furthest one has just made.
 * Null where fewer are near the furthest one.
 */
function windowBetween({ witnesses }: Nodes, ends: readonly ChainEnd[]): LandingWindow | null {
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
export interface NewestBlockhash extends LandingWindow {
  readonly blockhash: string;
}

/**
 * A confirmed blockhash, for a transaction that we build: the newest of a moment ago. The last height is what all endpoints
 * tell and not the one that gave the blockhash: 150 above the highest confirmed height of any of them, counted at most 300 above
 * the next one. So no single endpoint makes the window end too early, or puts its end off for long. Where endpoints are
 * near each other the window is remembered as well, because a caller who signs over the blockhash submits later.
 */
export async function newestBlockhash(nodes: Nodes): Promise<NewestBlockhash> {
  return await nodes.remembered("newest blockhash", NEWEST_FOR_MS, async () => {
    const { blockhash, claim } = await ask(nodes, async ({ rpc, name }) => {
      const { context, value } = await rpc.getLatestBlockhash("confirmed");
      const height = value.lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS;
      return { blockhash: value.blockhash, claim: { endpoint: name, slot: context.slot, height } };
    });
    const ends = await gather(nodes, confirmedEnd, (told) => [
      claimOf(told, claim),
      ...othersOf(told, claim),
    ]);
    const window = follows(ends, (all) => windowBetween(nodes, all));
    if (window !== null) handOut(nodes, blockhash, window);
    const [highest = claim.height, next = highest] = ends
      .map(({ height }) => height)
      .toSorted((one, other) => other - one);
    const counted = Math.min(highest, next + MAX_BLOCKS_AHEAD);
    return { blockhash, firstSlot: claim.slot, lastValidBlockHeight: counted + BLOCKHASH_LIFE_BLOCKS };
  });
}

const confirmedEnd: Question<ChainEnd> = async ({ rpc, name }) => {
  const { absoluteSlot, blockHeight } = await rpc.getEpochInfo("confirmed");
  return { endpoint: name, slot: absoluteSlot, height: blockHeight };
};

/** How far the endpoint is that gave the blockhash; behind its URL there may be many nodes. */
function claimOf(told: readonly ChainEnd[], claim: ChainEnd): ChainEnd {
  const again = told.find(({ endpoint }) => endpoint === claim.endpoint);
  if (again === undefined) return claim;
  const height = Math.max(again.height, Math.min(claim.height, again.height + MAX_BLOCKS_AHEAD));
  return { ...claim, height };
}

function othersOf(told: readonly ChainEnd[], claim: ChainEnd): readonly ChainEnd[] {
  return told.filter(({ endpoint }) => endpoint !== claim.endpoint);
}

function handOut({ handedOut }: Nodes, blockhash: string, window: Agreed<LandingWindow>): void {
  handedOut.set(blockhash, window);
  const [oldest] = handedOut.keys();
  if (handedOut.size > MAX_HANDED_OUT && oldest !== undefined) handedOut.delete(oldest);
}
