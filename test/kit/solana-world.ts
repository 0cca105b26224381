/** The world of the ledger contract: the production ledger in front of two endpoints of one chain, by default a local one. */
import type { Address } from "../../src/core/address.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { createLocalChain, type Fault, type RpcRequest } from "../../src/local/index.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import type { EndpointFault, LedgerWorld, WorldWallet } from "../contracts/ledger.ts";
import { blockClock, signPayment } from "./chain-fixture.ts";
import { issuerOf } from "./issuer.ts";
import { type NodeWay, NodeProxy, type ProxyRule, wayTo } from "./node-proxy.ts";
import { virtualClock, type VirtualClock } from "./virtual-clock.ts";
import { type Clock, silentLogger } from "../../src/core/runtime.ts";
import { dropping, NO_STATUSES } from "./odd-endpoints.ts";

/** How calls get to a local chain: handed over within the process, or through its HTTP listener, one or several at once. */
export type Transport = "in process" | "over HTTP" | "in batches over HTTP";

const SECRET = "k3y";
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as Address;
const BLOCKS_TO_FINALITY = 32;
const BLOCKS_BEHIND = 100;
const CALLS_PER_BATCH = 20;

/** What each fault does to a call. */
export const ENDPOINT_FAULTS: Readonly<Record<EndpointFault, (request: RpcRequest) => Fault | undefined>> = {
  silent: () => ({ kind: "hang" }),
  refusing: () => ({ kind: "refuse", status: 503 }),
  busy: () => ({ kind: "refuse", status: 429, headers: { "retry-after": "2" } }),
  slow: () => ({ kind: "delay", ms: 6_000 }),
  losing_answers: () => ({ kind: "lose-answer", status: 502 }),
  dropping,
  forgetful: ({ method }) => {
    if (method === "getTransaction") return { kind: "lie", answer: () => null };
    return method === "getSignatureStatuses" ? NO_STATUSES : undefined;
  },
  lagging: () => ({ kind: "lag", slots: BLOCKS_BEHIND }),
  // The calls themselves are doubled on their way.
  duplicating: () => undefined,
};

/** Of a world, what only its chain can do. */
export interface WorldChain extends Omit<
  LedgerWorld,
  "ledger" | "endpoints" | "secret" | "breakEndpoint" | "elapse" | "wait" | "destroy"
> {
  /** Where its endpoints stand. */
  readonly base: string;
  readonly way: NodeWay;
  readonly callsPerBatch: number;
  slot(): number;
  close(): Promise<void>;
}

/** Two endpoints of one chain, and what is wrong with each. */
class Roads {
  readonly nodes: readonly [NodeProxy, NodeProxy];
  readonly broken: [EndpointFault | undefined, EndpointFault | undefined] = [undefined, undefined];
  /** Calls that the chain will answer without any time having to pass. */
  underWay = 0;

  constructor(way: NodeWay, clock: Clock) {
    const counted: NodeWay = (own) => async (url, init) => {
      this.underWay += 1;
      try {
        const answer = await way(own)(url, init);
        return new Response(await answer.text(), answer);
      } finally {
        this.underWay -= 1;
      }
    };
    const node = (road: 0 | 1): NodeProxy => new NodeProxy(counted, this.#ruleOf(road), clock);
    this.nodes = [node(0), node(1)];
  }

  #ruleOf(road: 0 | 1): ProxyRule {
    return (request) => {
      const fault = this.broken[road];
      if (fault === "duplicating") return { kind: "twice" };
      return fault === undefined ? undefined : ENDPOINT_FAULTS[fault](request);
    };
  }
}

/** Makes a world of a chain. Its time passes by `elapse` and `wait` only. */
export function worldOf(chain: WorldChain, clock: VirtualClock): LedgerWorld {
  const roads = new Roads(chain.way, clock);
  const endpoints = ([0, 1] as const).map((road) => ({
    url: `${chain.base}/${road}?api-key=${SECRET}`,
    fetch: roads.nodes[road].fetch,
    callsPerBatch: chain.callsPerBatch,
  }));
  const ledger = solanaLedger({ endpoints, clock: blockClock(chain, clock), logger: silentLogger });
  const host = new URL(chain.base).hostname;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    ...chain,
    ledger,
    endpoints: [host, `${host}#2`],
    secret: SECRET,
    breakEndpoint: (index, fault) => {
      roads.broken[index] = fault;
      return () => {
        roads.broken[index] = undefined;
      };
    },
    elapse: async (ms) => {
      // What the chain is about to answer would run into its deadline.
      while (roads.underWay > 0) await turn();
      clock.advance(ms);
      for (let count = 0; count < 20 || roads.underWay > 0; count += 1) await turn();
    },
    wait: async (work) => {
      let hasEnded = false;
      const end = (): void => {
        hasEnded = true;
      };
      void work.then(end, end);
      while (!hasEnded) {
        await turn();
        if (roads.underWay === 0) clock.advance(50);
      }
      return await work;
    },
    destroy: async () => {
      await ledger.close();
      await chain.close();
    },
  };
}

/** Makes a world on a local chain. Its slots pass by `pass` only. */
export async function solanaWorld(transport: Transport): Promise<LedgerWorld> {
  const clock = virtualClock();
  const chain = await createLocalChain({ clock, slotMs: 0, finalizedAfter: BLOCKS_TO_FINALITY });
  // So far that a node which lags still knows all that the chain began with.
  chain.advance(BLOCKS_BEHIND + BLOCKS_TO_FINALITY);
  const listener = transport === "in process" ? null : await chain.listen({ port: 0, host: "127.0.0.1" });
  const mint = chain.mints.USDC as Address;
  let wallets = 0;
  const issuer = issuerOf(chain);
  const wallet: LedgerWorld["wallet"] = async ({ native, tokens, others }) => {
    wallets += 1;
    const funds = {
      ...(native === undefined ? {} : { lamports: native }),
      ...(tokens === undefined ? {} : { usdc: tokens }),
    };
    const { address, secretKey } = chain.createWallet(`wallet ${wallets}`, funds);
    if (others !== undefined) await issuer.giveOthers(address, others);
    chain.advance(BLOCKS_TO_FINALITY);
    return walletOf(secretKey);
  };
  const world: WorldChain = {
    base: listener?.url ?? "http://local.example",
    way: wayTo(chain, listener === null ? chain.fetch : globalThis.fetch),
    callsPerBatch: transport === "in batches over HTTP" ? CALLS_PER_BATCH : 1,
    token: { mint, decimals: 6 },
    others: issuer.others,
    landmarks: await landmarksOf(wallet, mint),
    blocksToFinality: BLOCKS_TO_FINALITY,
    wallet,
    beside: async (owner, units) => {
      const account = await issuer.beside(owner, units);
      chain.advance(BLOCKS_TO_FINALITY);
      return account;
    },
    freeze: async (account) => {
      await issuer.freeze(account);
      chain.advance(BLOCKS_TO_FINALITY);
    },
    slot: () => chain.slot(),
    height: () => chain.blockHeight(),
    pass: async (blocks) => chain.advance(blocks),
    fork: async (blocks) => chain.rollback(chain.slot() - blocks),
    reprice: async () => chain.setRent(10_000n),
    close: () => chain.close(),
  };
  return worldOf(world, clock);
}

/** A wallet of this key. */
export function walletOf(secretKey: Uint8Array): WorldWallet {
  const signer = keypairSigner(secretKey);
  return { address: signer.address, signer, sign: (unsigned) => signPayment(unsigned, secretKey) };
}

/** What stands on a chain of Solana where a world has this token. */
export async function landmarksOf(
  wallet: LedgerWorld["wallet"],
  mint: Address,
): Promise<LedgerWorld["landmarks"]> {
  const somebody = await wallet({ native: 1_000_000_000n, tokens: 1n });
  return [
    [somebody.address, "wallet"],
    [(await wallet({})).address, "absent"],
    [mint, "mint"],
    [associatedTokenAddress(somebody.address, mint) as Address, "token_account"],
    [TOKEN_PROGRAM, "program"],
  ];
}
