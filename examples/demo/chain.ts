/** A process of its own for the chain, so that it runs on when the service is killed. */
import bs58 from "bs58";
import { systemClock } from "paystate/engine";
import { createLocalChain, type Funds, type LocalWallet } from "paystate/local";
import type { ChainReady, DemoWallet } from "./settings.ts";

// Four times as fast as mainnet: finality after 32 slots, so in about three seconds.
const SLOT_MS = 100;
const SLOTS_TO_FINALITY = 33;
const EMPLOYEES = 100;
const NEW_TO_USDC = 10;

const chain = await createLocalChain({ clock: systemClock, slotMs: SLOT_MS });
const { url } = await chain.listen({ port: 0, host: "127.0.0.1" });

const shown = ({ address, secretKey }: LocalWallet): DemoWallet => ({
  address,
  secretKey: bs58.encode(secretKey),
});
const wallet = (name: string, funds: Funds): DemoWallet => shown(chain.createWallet(name, funds));

const ready: ChainReady = {
  rpcUrl: url,
  mints: chain.mints,
  alice: wallet("alice", { lamports: 5_000_000_000n, usdc: 1_000_000_000n }),
  bob: wallet("bob", { lamports: 1_000_000_000n, usdc: 3_000_000n }),
  employees: Array.from({ length: EMPLOYEES }, (_, index) => {
    const usdc = index < EMPLOYEES - NEW_TO_USDC ? { usdc: 0n } : {};
    return wallet(`employee ${index + 1}`, { lamports: 1_000_000n, ...usdc }).address;
  }),
  issuer: shown(chain.faucet),
  operator: {
    sponsor: wallet("sponsor", { lamports: 100_000_000_000n, usdc: 0n, usdt: 0n }),
    treasury: wallet("treasury", { lamports: 1_000_000_000n, usdc: 0n, usdt: 0n }),
    desk: wallet("desk", { lamports: 1_000_000_000_000n, usdc: 150_000_000_000n, usdt: 150_000_000_000n }),
  },
};
// What everybody begins with is final before anybody asks for it.
chain.advance(SLOTS_TO_FINALITY);
process.stdout.write(`${JSON.stringify(ready)}\n`);
