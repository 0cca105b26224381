/** A process of its own for the chain, so that it runs on when the service is killed. */
import bs58 from "bs58";
import { systemClock } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import type { ChainReady } from "./settings.ts";

// Four times as fast as mainnet: finality after 32 slots, so in about three seconds.
const SLOT_MS = 100;

const chain = await createLocalChain({ clock: systemClock, slotMs: SLOT_MS });
const { url } = await chain.listen({ port: 0, host: "127.0.0.1" });
const alice = chain.createWallet("alice", { lamports: 5_000_000_000n, usdc: 1_000_000_000n });
const bob = chain.createWallet("bob", { lamports: 1_000_000_000n, usdc: 3_000_000n });
const ready: ChainReady = {
  rpcUrl: url,
  mints: chain.mints,
  alice: { address: alice.address, secretKey: bs58.encode(alice.secretKey) },
  bob: { address: bob.address, secretKey: bs58.encode(bob.secretKey) },
};
process.stdout.write(`${JSON.stringify(ready)}\n`);
