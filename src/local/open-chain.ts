/** A local chain as its parts make it: state, JSON-RPC, listeners, faucet. */
import type { Clock } from "../core/runtime.ts";
import { blockHeightOf } from "./blockhash-list.ts";
import { ChainState } from "./chain-state.ts";
import type { LocalChainSettings } from "./chain-options.ts";
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

/** Chains with the same seed have the same mints and wallets, so that examples can name them. */
const DEFAULT_SEED = "paystate local chain";
/** Far enough from 0 that the windows behind the first slot have positive numbers. */
const FIRST_SLOT = 1000;

/** Starts a chain, from its journal if the journal has entries. */
export function openChain(settings: LocalChainSettings): LocalChain {
  const { clock, slotMs, seed, confirmedAfter, finalizedAfter } = settings;
  const litesvm = loadLitesvm();
  const journal = settings.journal === undefined ? noJournal : openJournal(settings.journal);
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
