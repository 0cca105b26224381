/** The world of the ledger contract on surfpool, whose blocks pass one by one. */
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import type { Address } from "../../../src/core/address.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import type { LedgerWorld } from "../../contracts/ledger.ts";
import { landmarksOf, walletOf, worldOf, type WorldChain } from "../../kit/solana-world.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { FINALIZED_BEHIND, wayToSurfpool } from "./lagging-node.ts";
import { SurfpoolNode } from "./surfpool-node.ts";

/** As many as nodes that lag are behind, and that many more, so that they know what the chain began with. */
const BLOCKS_BEFORE = 140;
const DECIMALS = 6;

/** Makes a world. */
export async function surfpoolWorld(): Promise<LedgerWorld> {
  const node = new SurfpoolNode("one by one");
  const clock = virtualClock(Date.now());
  await node.pass(BLOCKS_BEFORE);
  const [mint, other] = [await node.newMint("token"), await node.newMint("token-2022")];
  // What is written into an account is at once what stands there at finalized.
  const hasPassed = (): Promise<void> => node.pass(1);
  const wallet: LedgerWorld["wallet"] = async ({ native = 0n, tokens, others }) => {
    const key = walletOf(node.newKey());
    const owner = key.address;
    if (native > 0n) await node.setLamports(owner, native);
    if (tokens !== undefined) {
      const at = associatedTokenAddress(owner, mint);
      await node.setTokens(at, { mint, owner, amount: tokens, program: "token" });
    }
    if (others !== undefined) {
      await node.setTokens(atOfOthers(owner, other), {
        mint: other,
        owner,
        amount: others,
        program: "token-2022",
      });
    }
    await hasPassed();
    return key;
  };
  const world: WorldChain = {
    base: node.rpcUrl,
    way: wayToSurfpool,
    callsPerBatch: 1,
    token: { mint, decimals: DECIMALS },
    others: { mint: other, decimals: DECIMALS, program: "token-2022" },
    landmarks: await landmarksOf(wallet, mint),
    blocksToFinality: FINALIZED_BEHIND,
    wallet,
    beside: async (owner, amount) => {
      const account = node.newAddress();
      await node.setTokens(account, { mint, owner, amount, program: "token" });
      await hasPassed();
      return account;
    },
    freeze: async (account) => {
      await node.freeze(account);
      await hasPassed();
    },
    slot: () => node.slot,
    height: () => node.height,
    pass: (blocks) => node.pass(blocks),
    fork: () => Promise.reject(new Error("surfpool has one fork")),
    reprice: () => Promise.reject(new Error("surfpool has one price of storage")),
    close: async () => node.close(),
  };
  return worldOf(world, clock);
}

function atOfOthers(owner: string, mint: string): Address {
  const keys = [new PublicKey(mint), new PublicKey(owner)] as const;
  return getAssociatedTokenAddressSync(...keys, true, TOKEN_2022_PROGRAM_ID).toBase58() as Address;
}
