/** The local chain in a process of its own: what it costs to play a chain is none of what the service costs. */
import { createLocalChain } from "../../src/local/index.ts";
import { systemClock } from "../../src/runtime.ts";

/** How the chain is played, as JSON in the first argument. */
export interface ChainProcessSettings {
  readonly slotMs: number;
}

/** What it says first, of itself and of those who have money on it. */
export interface ChainProcessReady {
  readonly url: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  readonly wallets: Readonly<
    Record<"sponsor" | "treasury" | "sender", { readonly address: string; readonly secretKey: string }>
  >;
  readonly recipients: readonly string[];
}

/** Asked of it: raw units of USDC for each address. It answers with the slot in which all of them are there. */
export interface DepositsDemand {
  readonly deposits: readonly (readonly [address: string, amount: string])[];
}
export interface DepositsMade {
  readonly slot: number;
}

const RECIPIENTS = 10;
const LAMPORTS = 1_000_000_000_000n;

const { slotMs } = JSON.parse(process.argv[2] ?? "") as ChainProcessSettings;
const chain = await createLocalChain({ clock: systemClock, slotMs });
const { url } = await chain.listen({ port: 0, host: "127.0.0.1" });
const wallet = (name: string): { address: string; secretKey: string } => {
  const { address, secretKey } = chain.createWallet(name, { lamports: LAMPORTS });
  return { address, secretKey: Buffer.from(secretKey).toString("base64") };
};
const ready: ChainProcessReady = {
  url,
  mints: chain.mints,
  wallets: { sponsor: wallet("sponsor"), treasury: wallet("treasury"), sender: wallet("sender") },
  recipients: Array.from({ length: RECIPIENTS }, (_, index) => {
    const { address } = chain.createWallet(`recipient ${index}`, { lamports: 1_000_000n, usdc: 1n });
    return address;
  }),
};
process.on("message", ({ deposits }: DepositsDemand) => {
  for (const [address, amount] of deposits) chain.fund(address, { usdc: BigInt(amount) });
  const made: DepositsMade = { slot: chain.slot() };
  process.send?.(made);
});
// Whoever asked for the chain is gone.
process.on("disconnect", () => process.exit());
process.send?.(ready);
