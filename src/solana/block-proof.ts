/**
 * Proves by blocks that a message never landed: reads every block that could contain the message, and finds it in no
 * block.
 */
import type { Attempt } from "../ledger/ledger.ts";
import { EndpointFailure, expectShape, isTooLarge } from "./endpoint-failure.ts";
import type { BlockWalkState } from "./ask.ts";
import { landedMessageHash, type FoundLanding } from "./find-message.ts";
import { participantsOf, type Block as BlockTold } from "./rpc/landed-transaction.ts";
import type { RpcNode } from "./rpc/rpc-node.ts";
import { errorText } from "./statuses.ts";

/**
 * The result of reading blocks. `none`: no block that could contain the message contains it, up to the last. `gap`:
 * this node does not have all blocks. `unfinished`: more blocks are left than are read at once.
 */
type BlockProof = FoundLanding | "none" | "gap" | "unfinished";

/** The position of an unfinished walk, kept by the caller between two looks. */
export interface WalkCache {
  get(): BlockWalkState | undefined;
  set(walk: BlockWalkState): void;
}

interface WalkedNode {
  readonly rpc: RpcNode;
  readonly finalizedSlot: number;
  readonly memory: WalkCache;
}

// The accounts of a block of mainnet are some megabytes, and one look has a minute.
const BLOCKS_AT_ONCE = 4;
const MAX_BLOCKS_PER_LOOK = 160;
// Far more slots than a blockhash lives, even where many are skipped.
const MAX_SLOTS = 5_000;

type Block = BlockTold & { readonly slot: number };

/**
 * Walks the finalized blocks from the first that can contain the attempt to the block at its last valid height + 1,
 * which still accepts it. Each block must name the block before as its parent, by slot, blockhash and height: an
 * omitted block is a gap.
 */
export async function walkBlocks(
  { rpc, finalizedSlot, memory }: WalkedNode,
  attempt: Attempt,
): Promise<BlockProof> {
  // Without its bytes only its own signature could be told from others.
  if (attempt.bytes.length === 0) return "gap";
  const known = memory.get();
  const from = known === undefined ? attempt.firstSlot : known.slot + 1;
  const until = Math.min(finalizedSlot, attempt.firstSlot + MAX_SLOTS);
  const slots = until < from ? [] : await rpc.getBlocks(from, until);
  let last = known;
  for (let start = 0; start < slots.length; start += BLOCKS_AT_ONCE) {
    if (last !== undefined && isLast(last, attempt)) return "none";
    if (start >= MAX_BLOCKS_PER_LOOK) return "unfinished";
    const blocks = await readBlocks(rpc, slots.slice(start, start + BLOCKS_AT_ONCE));
    if (blocks === null) return "gap";
    for (const block of blocks) {
      if (!follows(block, last, attempt)) return "gap";
      const found = await landingIn(rpc, block, attempt);
      if (found !== null) return found;
      last = { slot: block.slot, blockhash: block.blockhash, height: block.blockHeight };
      memory.set(last);
      if (isLast(last, attempt)) return "none";
    }
  }
  return last !== undefined && isLast(last, attempt) ? "none" : "gap";
}

function isLast({ height }: BlockWalkState, { lastValidBlockHeight }: Attempt): boolean {
  return height > lastValidBlockHeight;
}

/** Null where the node does not have one of them, or has more in it than is read. */
async function readBlocks(rpc: RpcNode, slots: readonly number[]): Promise<Block[] | null> {
  const read = await Promise.all(slots.map((slot) => readBlock(rpc, slot)));
  const blocks = read.filter((block) => block !== null);
  return blocks.length === read.length ? blocks : null;
}

// Agave's answers for a block that it lacks: cleaned up, skipped or missing because of a snapshot, missing in long-term
// storage.
const MISSING_BLOCK_CODES: ReadonlySet<number | undefined> = new Set([-32001, -32007, -32009]);

async function readBlock(rpc: RpcNode, slot: number): Promise<Block | null> {
  try {
    const block = await rpc.getBlock(slot);
    return block === null ? null : { ...block, slot };
  } catch (error) {
    const isMissing = error instanceof EndpointFailure && MISSING_BLOCK_CODES.has(error.facts.code);
    if (isMissing || isTooLarge(error)) return null;
    throw error;
  }
}

/** The first one needs no known parent, but one of before the first slot: else there may be a block between. */
function follows(block: Block, last: BlockWalkState | undefined, { firstSlot }: Attempt): boolean {
  if (last === undefined) return block.parentSlot < firstSlot;
  return (
    block.parentSlot === last.slot &&
    block.previousBlockhash === last.blockhash &&
    block.blockHeight === last.height + 1
  );
}

/** The attempt, or its message under another signature: what names the accounts of the message in their order is read. */
async function landingIn(
  rpc: RpcNode,
  { slot, transactions }: Block,
  attempt: Attempt,
): Promise<FoundLanding | "gap" | null> {
  const { accounts } = participantsOf(attempt.bytes);
  for (const { transaction, meta } of transactions) {
    const [signature] = transaction.signatures;
    if (signature !== attempt.signature) {
      if (!accounts.every((account, index) => transaction.accountKeys[index]?.pubkey === account)) continue;
      const hash = await landedMessageHash({ rpc }, { signature, slot });
      if (hash === null) return "gap";
      if (hash !== attempt.messageHash) continue;
    }
    expectShape(meta !== null, "transaction of a block");
    return { signature, slot, error: errorText(meta.err) };
  }
  return null;
}
