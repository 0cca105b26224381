/** Reads how long a blockhash will still be accepted: one that we chose, or one that a caller did. */
import { ask, askUntil, type Nodes } from "./ask.ts";
import type { LandingWindow } from "./landing-window.ts";

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

/**
 * When a transaction over `blockhash` can land, or null when the blockhash is no longer (or never was) valid. When it was
 * made is unknown: for its last height it is taken to have been made in the newest block, for its first slot to be as old
 * as a valid one can be.
 *
 * Any one node that knows it makes it valid, for a node that lags does not know the newest ones.
 */
export async function landingWindow(nodes: Nodes, blockhash: string): Promise<LandingWindow | null> {
  return (await windowOfOurs(nodes, blockhash)) ?? (await windowOfAny(nodes, blockhash));
}

/** Null for a blockhash that we have not handed out lately, or that is too old. */
async function windowOfOurs(nodes: Nodes, blockhash: string): Promise<LandingWindow | null> {
  const known = nodes.handedOut.get(blockhash);
  if (known === undefined) return null;
  const newest = await newestBlockhash(nodes);
  const isAlive = newest.lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS <= known.lastValidBlockHeight;
  return isAlive ? known : null;
}

async function windowOfAny(nodes: Nodes, blockhash: string): Promise<LandingWindow | null> {
  return await askUntil(
    nodes,
    (window) => window !== null,
    async ({ rpc }) => {
      const { context, value } = await rpc.isBlockhashValid(blockhash, { commitment: "confirmed" });
      if (!value) return null;
      // Behind one URL there may be many nodes: the height must come from one that is at least as far, or the
      // transaction would be pronounced dead too early.
      const height = await rpc.getBlockHeight({
        commitment: "confirmed",
        minContextSlot: context.slot,
      });
      return {
        firstSlot: Math.max(0, context.slot - BLOCKHASH_LIFE_SLOTS),
        lastValidBlockHeight: height + BLOCKHASH_LIFE_BLOCKS,
      };
    },
  );
}

/** A blockhash, and when a transaction over it can land. */
export interface NewestBlockhash extends LandingWindow {
  readonly blockhash: string;
}

/**
 * A confirmed blockhash, for a transaction that we build: the newest of a moment ago. How long it will be accepted is
 * remembered, because the caller who signs over it submits it later.
 */
export async function newestBlockhash(nodes: Nodes): Promise<NewestBlockhash> {
  return await nodes.remembered("newest blockhash", NEWEST_FOR_MS, async () => {
    const { context, value } = await ask(nodes, ({ rpc }) => rpc.getLatestBlockhash("confirmed"));
    const newest = { ...value, firstSlot: context.slot };
    const { handedOut } = nodes;
    handedOut.set(newest.blockhash, newest);
    const [oldest] = handedOut.keys();
    if (handedOut.size > MAX_HANDED_OUT && oldest !== undefined) handedOut.delete(oldest);
    return newest;
  });
}
