/** Makes a local chain out of its parts: state, JSON-RPC, listeners, faucet. */
import { z } from "zod";
import { checkOptions, objectWith, optionsWith } from "../core/options.ts";
import type { Clock } from "../core/runtime.ts";
import { blockHeightOf } from "./blockhash-list.ts";
import { ChainState } from "./chain-state.ts";
import { FaultRules } from "./faults.ts";
import { type Funds, fundingTransaction } from "./funding.ts";
import { derivedKeypair } from "./genesis.ts";
import { listen, type Listener } from "./http-listener.ts";
import { type GenesisEntry, type Journal, noJournal, openJournal } from "./journal.ts";
import { loadLitesvm } from "./litesvm.ts";
import type { LocalChain, LocalFetch, LocalWallet } from "./local-chain.ts";
import { HTTP_DOOR, type RpcAnswer, RpcServer } from "./rpc/server.ts";
import { SocketServer } from "./socket-server.ts";
import { decodeTransaction } from "./transaction-bytes.ts";

/** The length of mainnet's slots for years. */
const DEFAULT_SLOT_MS = 400;
/** Chains with the same seed have the same mints and wallets, so that examples can name them. */
const DEFAULT_SEED = "paystate local chain";
const DEFAULT_CONFIRMED_AFTER = 1;
const DEFAULT_FINALIZED_AFTER = 32;
/** Far enough from 0 that the windows behind the first slot have positive numbers. */
const FIRST_SLOT = 1000;

const slotCount = z.number().int().min(0);
const optionsSchema = optionsWith({
  /** Tells the time; `sleep` is needed for delay faults, and for subscriptions while slots follow the clock. */
  clock: objectWith<Pick<Clock, "now"> & Partial<Pick<Clock, "sleep">>>(
    ["now"],
    "a clock: { now }, with { sleep } for delays and subscriptions",
  ),
  /**
   * File the chain lives in; made when absent (mode 0600), replayed when present: some 0.4 ms for each transaction.
   * Without it, nothing is kept.
   */
  journal: z.string().min(1).optional(),
  /** Duration of a slot in milliseconds, 400 by default. With 0 slots pass by `advance` only. */
  slotMs: slotCount.default(DEFAULT_SLOT_MS),
  /** All keys of the chain's own are derived from it. The journal's seed must be the same. */
  seed: z.string().min(1).optional(),
  /** Slots after which a block is confirmed, 1 by default. */
  confirmedAfter: slotCount.default(DEFAULT_CONFIRMED_AFTER),
  /** Slots after which a block is finalized, 32 by default. */
  finalizedAfter: slotCount.default(DEFAULT_FINALIZED_AFTER),
}).refine(({ confirmedAfter, finalizedAfter }) => confirmedAfter <= finalizedAfter, {
  path: ["confirmedAfter"],
  error: "nothing is finalized before it is confirmed: expected at most finalizedAfter",
});

/** Options of a local chain. @interface */
export type LocalChainOptions = z.input<typeof optionsSchema>;

/**
 * Starts a chain, from its journal if the journal has entries. Throws `InvalidOptions` listing every wrong option, and
 * one sentence that says what to do when litesvm's native package is missing, the journal is damaged, or it belongs to
 * another seed.
 *
 * @example
 * ```ts
 * import { Connection, PublicKey } from "@solana/web3.js";
 * import { systemClock } from "paystate/engine";
 * import { createLocalChain } from "paystate/local";
 *
 * const chain = await createLocalChain({ clock: systemClock });
 * const ada = chain.createWallet("ada", { lamports: 2_000_000_000n, usdc: 100_000_000n });
 * const connection = new Connection("http://local.invalid", { fetch: chain.fetch, commitment: "confirmed" });
 * chain.advance(1);
 * console.log(await connection.getBalance(new PublicKey(ada.address))); // 2000000000
 * await chain.close();
 * ```
 */
export async function createLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { clock, slotMs, seed, confirmedAfter, finalizedAfter, ...checked } = checkOptions(
    "createLocalChain",
    optionsSchema,
    options,
  );
  const litesvm = loadLitesvm();
  const journal = checked.journal === undefined ? noJournal : openJournal(checked.journal);
  try {
    const state = new ChainState({
      litesvm,
      journal,
      genesis: genesisOf(journal, seed, { slot: FIRST_SLOT, time: clock.now(), slotMs }),
      slotMs,
      now: () => clock.now(),
      depths: { confirmedAfter, finalizedAfter },
    });
    return new JournaledChain(state, clock.sleep?.bind(clock));
  } catch (error) {
    journal.close();
    throw error;
  }
}

function genesisOf(
  journal: Journal,
  seed: string | undefined,
  first: Pick<GenesisEntry, "slot" | "time" | "slotMs">,
): GenesisEntry {
  const { genesis } = journal;
  if (genesis !== undefined && seed !== undefined && genesis.seed !== seed) {
    throw new Error(
      "The journal belongs to a chain with another seed: leave the seed out, or use another file.",
    );
  }
  return genesis ?? { kind: "genesis", format: 1, seed: seed ?? DEFAULT_SEED, ...first };
}

class JournaledChain implements LocalChain {
  readonly faults = new FaultRules();
  readonly faucet: LocalWallet;
  readonly #state: ChainState;
  readonly #server: RpcServer;
  readonly #listeners: Listener[] = [];
  readonly #openCalls = new Set<AbortController>();
  #isClosed = false;

  constructor(state: ChainState, sleep: Clock["sleep"] | undefined) {
    this.#state = state;
    this.#server = new RpcServer(state, this.faults, sleep);
    this.faucet = wallet("faucet", state.keys.faucet);
  }

  get genesisHash(): string {
    return this.#state.genesisHash;
  }

  get mints(): LocalChain["mints"] {
    return this.#state.keys.mints;
  }

  readonly fetch: LocalFetch = async (input, init) => {
    const { text, signal } = await requestOf(input, init);
    const asked = this.#answer(text, signal);
    // As over a network, no answer comes within the turn of the event loop that asked for it.
    await Promise.allSettled([asked, nextTurn()]);
    const answer = await asked.catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    // A caller that has given up gets no answer, also where the call was carried out.
    signal?.throwIfAborted();
    const { status, headers, body } = answer;
    return new Response(body === "" ? null : body, { status, headers });
  };

  slot(): number {
    return this.#state.currentSlot();
  }

  blockHeight(): number {
    return blockHeightOf(this.#state.currentSlot());
  }

  advance(slots: number): void {
    this.#state.advance(slots);
  }

  rollback(toSlot: number): void {
    this.#state.rollback(toSlot);
  }

  setRent(lamportsPerByte: bigint): void {
    this.#state.setRent(lamportsPerByte);
  }

  createWallet(name: string, funds: Funds): LocalWallet {
    const made = this.#wallet(name);
    if (!this.#state.walletNames().includes(name)) this.#give(made.address, funds, name);
    return made;
  }

  wallets(): LocalWallet[] {
    return this.#state.walletNames().map((name) => this.#wallet(name));
  }

  fund(address: string, funds: Funds): string {
    return this.#give(address, funds);
  }

  async listen(options: { port: number; host: string }): Promise<Listener> {
    const sockets = new SocketServer(this.#server);
    const answer = (body: string, signal: AbortSignal): Promise<RpcAnswer> => this.#answer(body, signal);
    const listener = await listen({ answer, sockets }, options);
    this.#listeners.push(listener);
    return listener;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const call of this.#openCalls) call.abort(chainClosed());
    this.#server.feed.close();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    this.#state.close();
  }

  #wallet(name: string): LocalWallet {
    return wallet(name, derivedKeypair(this.#state.genesis.seed, `wallet/${name}`));
  }

  #give(recipient: string, funds: Funds, name?: string): string {
    const { keys, blockhashes, log } = this.#state;
    const blockhash = blockhashes.of(this.#state.currentSlot());
    const bytes = fundingTransaction({ keys, recipient, funds, blockhash, number: log.length });
    const transaction = decodeTransaction(bytes);
    this.#state.submit(transaction, name);
    const err = log.withSignature(transaction.signature)?.err;
    if (err === null) return transaction.signature;
    throw new Error(`The faucet could not fund ${recipient}: ${JSON.stringify(err)}.`);
  }

  async #answer(body: string, signal?: AbortSignal): Promise<RpcAnswer> {
    if (this.#isClosed) throw chainClosed();
    const call = new AbortController();
    const given = signal === undefined ? call.signal : AbortSignal.any([signal, call.signal]);
    this.#openCalls.add(call);
    try {
      return await this.#server.answer(body, HTTP_DOOR, given);
    } finally {
      this.#openCalls.delete(call);
    }
  }
}

/** Ends when the event loop has come round once. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The request, and the signal that may abort it. */
async function requestOf(
  input: Parameters<LocalFetch>[0],
  init: Parameters<LocalFetch>[1],
): Promise<{ readonly text: string; readonly signal: AbortSignal | undefined }> {
  // As nearly everybody asks. A `Request` takes longer to make than most answers.
  if (typeof input === "string" && typeof init?.body === "string") {
    init.signal?.throwIfAborted();
    return { text: init.body, signal: init.signal ?? undefined };
  }
  const request = new Request(input, { ...init, method: "POST" });
  return { text: await request.text(), signal: request.signal };
}

function chainClosed(): Error {
  return new Error("The local chain was closed.");
}

function wallet(
  name: string,
  { publicKey, secretKey }: { publicKey: { toBase58(): string }; secretKey: Uint8Array },
): LocalWallet {
  return { name, address: publicKey.toBase58(), secretKey };
}
