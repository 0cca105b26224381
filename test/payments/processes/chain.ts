/** A process of its own for the chain: it goes on from its journal, however it ended. */
import { systemClock } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import type { ChainReady, ChainSettings } from "./settings.ts";

const { journal, port, slotMs } = JSON.parse(process.argv[2] ?? "") as ChainSettings;
const chain = await createLocalChain({ clock: systemClock, slotMs, journal });
const { url } = await chain.listen({ port, host: "127.0.0.1" });
const alice = chain.createWallet("alice", { lamports: 100_000_000_000n, usdc: 1_000_000_000n });
const ready: ChainReady = {
  rpcUrl: url,
  mints: chain.mints,
  alice: { address: alice.address, secretKey: Buffer.from(alice.secretKey).toString("base64") },
};
process.stdout.write(`${JSON.stringify(ready)}\n`);
