/** How long a blockhash that somebody else chose will still be accepted. */
import { ask, askUntil, type Nodes } from "./ask.ts";

// A transaction is accepted while its blockhash is among the newest 150 (MAX_PROCESSING_AGE): a rule of the protocol
// that no RPC method tells. It is counted in blocks, so a change of slot time does not touch it.
const BLOCKHASH_LIFE_BLOCKS = 150;

/**
 * The last block height at which a transaction over `blockhash` can land at the latest, or null when the blockhash is
 * no longer (or never was) valid. When it was made is unknown: it is taken to have been made in the newest block.
 *
 * Any one node that knows it makes it valid, for a node that lags does not know the newest ones.
 */
export async function lastValidBlockHeight(nodes: Nodes, blockhash: string): Promise<number | null> {
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

/** The newest confirmed blockhash, for a transaction that we build. */
export async function newestBlockhash(
  nodes: Nodes,
): Promise<{ blockhash: string; lastValidBlockHeight: number }> {
  return await ask(nodes, (connection) => connection.getLatestBlockhash("confirmed"));
}
