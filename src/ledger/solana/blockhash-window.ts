/** How long a blockhash will still be accepted, be it one that we chose or one that somebody else did. */
import type { BlockhashWithExpiryBlockHeight } from "@solana/web3.js";
import { ask, askUntil, type Nodes } from "./ask.ts";

// A transaction is accepted while its blockhash is among the newest 150 (MAX_PROCESSING_AGE): a rule of the protocol
// that no RPC method tells. It is counted in blocks, so a change of slot time does not touch it.
const BLOCKHASH_LIFE_BLOCKS = 150;
// Two or three blocks of the 150: all that is built within a second may live as long.
const NEWEST_FOR_MS = 1_000;
// A new one every second at most, so that these reach back further than any blockhash lives.
const MOST_HANDED_OUT = 300;

/**
 * The last block height at which a transaction over `blockhash` can land at the latest, or null when the blockhash is
 * no longer (or never was) valid. When it was made is unknown: it is taken to have been made in the newest block.
 *
 * Any one node that knows it makes it valid, for a node that lags does not know the newest ones.
 */
export async function lastValidBlockHeight(nodes: Nodes, blockhash: string): Promise<number | null> {
  return (await lastHeightOfOurs(nodes, blockhash)) ?? (await lastHeightOfAny(nodes, blockhash));
}

/** Null for a blockhash that we have not handed out lately, or that is too old. */
async function lastHeightOfOurs(nodes: Nodes, blockhash: string): Promise<number | null> {
  const known = nodes.handedOut.get(blockhash);
  if (known === undefined) return null;
  const newest = await newestBlockhash(nodes);
  return newest.lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS <= known ? known : null;
}

async function lastHeightOfAny(nodes: Nodes, blockhash: string): Promise<number | null> {
  return await askUntil(
    nodes,
    (height) => height !== null,
    async (connection) => {
      const { context, value } = await connection.isBlockhashValid(blockhash, { commitment: "confirmed" });
      if (!value) return null;
      // Behind one URL there may be many nodes: the height must come from one that is at least as far, or the
      // transaction would be pronounced dead too early.
      const height = await connection.getBlockHeight({
        commitment: "confirmed",
        minContextSlot: context.slot,
      });
      return height + BLOCKHASH_LIFE_BLOCKS;
    },
  );
}

/**
 * A confirmed blockhash, for a transaction that we build: the newest of a moment ago. How long it will be accepted is
 * remembered, for whoever signs over it comes back with it.
 */
export async function newestBlockhash(nodes: Nodes): Promise<BlockhashWithExpiryBlockHeight> {
  return await nodes.remembered("newest blockhash", NEWEST_FOR_MS, async () => {
    const newest = await ask(nodes, (connection) => connection.getLatestBlockhash("confirmed"));
    const { handedOut } = nodes;
    handedOut.set(newest.blockhash, newest.lastValidBlockHeight);
    const [oldest] = handedOut.keys();
    if (handedOut.size > MOST_HANDED_OUT && oldest !== undefined) handedOut.delete(oldest);
    return newest;
  });
}
