/** The world of the ledger contract on a local chain: the production ledger in front of two endpoints of its own. */
import type { Address } from "../../src/address.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import { solanaLedger, type Fetch } from "../../src/solana/index.ts";
import {
  associatedTokenAddress,
  createLocalChain,
  type Fault,
  type LocalChain,
  NO_STATUSES,
  type RpcRequest,
} from "../../src/local/index.ts";
import type { EndpointFault, LedgerWorld } from "../contracts/ledger.ts";
import { blockClock, signPayment } from "./chain-fixture.ts";
import { issuerOf } from "./issuer.ts";
import { virtualClock } from "./virtual-clock.ts";
import { silentLogger } from "../../src/runtime.ts";
import { dropping } from "./odd-endpoints.ts";

/** How calls get to the chain: handed over within the process, or through its HTTP listener, one or several at once. */
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

/** A call as it is sent. */
interface Asked {
  readonly params?: readonly unknown[];
}

const isBatch = (asked: Asked | readonly Asked[]): asked is readonly Asked[] => Array.isArray(asked);

/** Two ways to one chain, and what is wrong with each. */
class Roads {
  readonly broken: [EndpointFault | undefined, EndpointFault | undefined] = [undefined, undefined];
  /** Calls that will be answered without any time having to pass. */
  underWay = 0;
  readonly #reach: Fetch;

  constructor(chain: LocalChain, reach: Fetch) {
    this.#reach = reach;
    chain.faults.add((request) => {
      const marker = request.params.at(-1) as { readonly road: 0 | 1 };
      const fault = this.broken[marker.road];
      return fault === undefined ? undefined : ENDPOINT_FAULTS[fault](request);
    });
  }

  /** A `fetch` whose calls carry the road's number behind their last parameter, where no method reads. */
  fetch(road: 0 | 1): Fetch {
    return async (input, init) => {
      const asked = JSON.parse(typeof init?.body === "string" ? init.body : "") as Asked | readonly Asked[];
      const marked = (call: Asked): Asked => ({ ...call, params: [...(call.params ?? []), { road }] });
      const body = JSON.stringify(isBatch(asked) ? asked.map(marked) : marked(asked));
      const fault = this.broken[road];
      const isAnsweredAtOnce = fault !== "silent" && fault !== "slow";
      if (isAnsweredAtOnce) this.underWay += 1;
      try {
        if (fault === "duplicating") await this.#reach(input, { ...init, body });
        const answer = await this.#reach(input, { ...init, body });
        return new Response(await answer.text(), answer);
      } finally {
        if (isAnsweredAtOnce) this.underWay -= 1;
      }
    };
  }
}

/** Makes a world. Its slots pass by `pass` only, its time by `elapse` and `wait` only. */
export async function solanaWorld(transport: Transport): Promise<LedgerWorld> {
  const clock = virtualClock();
  const chain = await createLocalChain({ clock, slotMs: 0, finalizedAfter: BLOCKS_TO_FINALITY });
  // So far that a node which lags still knows all that the chain began with.
  chain.advance(BLOCKS_BEHIND + BLOCKS_TO_FINALITY);
  const listener = transport === "in process" ? null : await chain.listen({ port: 0, host: "127.0.0.1" });
  const base = listener?.url ?? "http://local.example";
  const roads = new Roads(chain, listener === null ? chain.fetch : globalThis.fetch);
  const endpoints = ([0, 1] as const).map((road) => ({
    url: `${base}/${road}?api-key=${SECRET}`,
    fetch: roads.fetch(road),
    callsPerBatch: transport === "in batches over HTTP" ? CALLS_PER_BATCH : 1,
  }));
  const ledger = solanaLedger({ endpoints, clock: blockClock(chain, clock), logger: silentLogger });
  const host = new URL(base).hostname;
  const mint = chain.mints.USDC as Address;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
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
    return {
      address: address as Address,
      signer: keypairSigner(secretKey),
      sign: (unsigned) => signPayment(unsigned, secretKey),
    };
  };
  const somebody = await wallet({ native: 1_000_000_000n, tokens: 1n });
  return {
    ledger,
    endpoints: [host, `${host}#2`],
    secret: SECRET,
    token: { mint, decimals: 6 },
    others: issuer.others,
    landmarks: [
      [somebody.address, "wallet"],
      [(await wallet({})).address, "absent"],
      [mint, "mint"],
      [associatedTokenAddress(somebody.address, mint) as Address, "token_account"],
      [TOKEN_PROGRAM, "program"],
    ],
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
    height: () => chain.blockHeight(),
    pass: async (blocks) => chain.advance(blocks),
    fork: async (blocks) => chain.rollback(chain.slot() - blocks),
    reprice: async () => chain.setRent(10_000n),
    breakEndpoint: (index, fault) => {
      roads.broken[index] = fault;
      return () => {
        roads.broken[index] = undefined;
      };
    },
    elapse: async (ms) => {
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
