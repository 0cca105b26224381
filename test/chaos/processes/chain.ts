/** The chain in a process of its own: its two endpoints fail in turn and together, and its newest blocks are abandoned. */
import fc from "fast-check";
import { systemClock } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import type { EndpointFault } from "../../contracts/ledger.ts";
import { ENDPOINT_FAULTS } from "../../kit/solana-world.ts";
import type { ChainDemand, ChainReady, ChainSettings, ChaosWallet } from "./settings.ts";

/** One thing that goes wrong: an endpoint or both for a while, or a fork. */
interface Trouble {
  readonly afterMs: number;
  readonly lastsMs: number;
  readonly fault: EndpointFault | "fork";
  readonly endpoints: readonly (0 | 1)[];
  readonly forkSlots: number;
}

/** What may be wrong with both at once: of an endpoint that has forgotten, only one at a time is assumed. */
const ON_BOTH: readonly EndpointFault[] = [
  "silent",
  "refusing",
  "busy",
  "slow",
  "losing_answers",
  "dropping",
  "lagging",
];

const troubles = fc.oneof(
  fc.record<Trouble>({
    afterMs: fc.integer({ min: 500, max: 5_000 }),
    lastsMs: fc.integer({ min: 50, max: 1_500 }),
    fault: fc.constantFrom(...ON_BOTH, "fork"),
    endpoints: fc.constantFrom<(0 | 1)[]>([0], [1], [0, 1]),
    forkSlots: fc.integer({ min: 1, max: 6 }),
  }),
  fc.record<Trouble>({
    afterMs: fc.integer({ min: 500, max: 5_000 }),
    lastsMs: fc.integer({ min: 50, max: 1_500 }),
    fault: fc.constant("forgetful"),
    endpoints: fc.constant([0]),
    forkSlots: fc.constant(1),
  }),
);

/** So far that a node which lags still knows all that the chain began with. */
const SLOTS_BEFORE = 140;
const LAMPORTS = 1_000_000_000_000n;
const MANY = 20_000;

const { slotMs, seed } = JSON.parse(process.argv[2] ?? "") as ChainSettings;
let aheadMs = 0;
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
const chain = await createLocalChain({ clock, slotMs });
const wallet = (name: string, usdc = 0n): ChaosWallet => {
  const { address, secretKey } = chain.createWallet(name, { lamports: LAMPORTS, usdc });
  return { address, secretKey: Buffer.from(secretKey).toString("base64") };
};
const wallets = {
  sponsor: wallet("sponsor"),
  treasury: wallet("treasury"),
  alice: wallet("alice", LAMPORTS),
};
chain.advance(SLOTS_BEFORE);
const { url } = await chain.listen({ port: 0, host: "127.0.0.1" });

const broken: [EndpointFault | null, EndpointFault | null] = [null, null];
chain.faults.add((request) => {
  const { endpoint } = (request.params.at(-1) ?? {}) as { readonly endpoint?: 0 | 1 };
  // The one who judges in the end asks without a name, and nothing is hidden from them.
  const fault = endpoint === undefined ? null : broken[endpoint];
  return fault === null ? undefined : ENDPOINT_FAULTS[fault](request);
});

/** What was given from outside, by the slots it landed between: whoever paid pays again when a fork has taken it back. */
const gifts: {
  readonly from: number;
  readonly until: number;
  readonly address: string;
  readonly amount: bigint;
}[] = [];
function give(address: string, amount: bigint): void {
  const from = chain.slot();
  chain.fund(address, { usdc: amount });
  gifts.push({ from, until: chain.slot(), address, amount });
}

function fork(slots: number): void {
  let to = chain.slot() - slots;
  // Slots pass while a gift is given: no fork begins where it could not be told whether that is lost.
  while (gifts.some(({ from, until }) => from <= to && to < until)) to -= 1;
  chain.rollback(to);
  const lost = gifts.filter(({ from }) => from > to);
  gifts.splice(0, gifts.length, ...gifts.filter(({ from }) => from <= to));
  for (const { address, amount } of lost) give(address, amount);
}

const toCome = fc.sample(troubles, { seed, numRuns: MANY });
async function goWrong(signal: AbortSignal): Promise<void> {
  for (let next = toCome.shift(); next !== undefined; next = toCome.shift()) {
    const { afterMs, lastsMs, fault, endpoints, forkSlots } = next;
    await systemClock.sleep(afterMs, signal);
    if (signal.aborted) return;
    if (fault === "fork") fork(forkSlots);
    else {
      for (const endpoint of endpoints) broken[endpoint] = fault;
      await systemClock.sleep(lastsMs, signal);
      broken.fill(null);
    }
  }
}

let healing = new AbortController();
process.on("message", (demand: ChainDemand) => {
  if (demand.asks === "give") return give(demand.address, BigInt(demand.amount));
  if (demand.asks === "turn") return void (aheadMs += demand.byMs);
  healing.abort();
  if (demand.asks === "heal") return;
  healing = new AbortController();
  void goWrong(healing.signal);
});
process.on("disconnect", () => process.exit());
const ready: ChainReady = { rpcUrl: url, mints: chain.mints, wallets, faucet: chain.faucet.address };
process.send?.(ready);
void goWrong(healing.signal);
