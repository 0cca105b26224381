/** The local chain as its users hold it: its methods. */
import type { FaultControl } from "./faults.ts";
import type { Funds } from "./funding.ts";
import type { Listener } from "./http-listener.ts";

/** A key pair of the chain's own. It is worth nothing anywhere else. */
export interface LocalWallet {
  readonly name: string;
  /** Base58. */
  readonly address: string;
  /** 64 bytes, secret then public key: the form of web3.js and of the Solana tools' key files. */
  readonly secretKey: Uint8Array;
}

/** A `fetch` that reaches the chain without a port: the `fetch` option of web3.js's `Connection`. */
export type LocalFetch = typeof globalThis.fetch;

/** A Solana chain in this process: the real programs, the rules of a cluster around them, no network. */
export interface LocalChain {
  /** Differs between chains begun at different times, stays the same over restarts. */
  readonly genesisHash: string;
  /** Addresses of the two stablecoins' mints: SPL Token, 6 decimals. */
  readonly mints: { readonly USDC: string; readonly USDT: string };
  /** Holds the SOL of airdrops; mint and freeze authority of both stablecoins. */
  readonly faucet: LocalWallet;
  /** Answers JSON-RPC calls in this process, under any URL. */
  readonly fetch: LocalFetch;
  /** The faults in force. */
  readonly faults: FaultControl;
  /** The slot that transactions are executed in now. */
  slot(): number;
  /** The number of the block in that slot: smaller than the slot, as on mainnet. */
  blockHeight(): number;
  /** Lets so many slots pass at once. Throws RangeError unless `slots` is a whole number from 1 up. */
  advance(slots: number): void;
  /**
   * Abandons the blocks after `toSlot`, as when the cluster agrees on another fork: what landed in them did not
   * land. Throws RangeError for a slot below the finalized or above the current one.
   */
  rollback(toSlot: number): void;
  /**
   * Changes the price of storage, in lamports per byte; accounts that exist keep what they hold. A rollback does not
   * change it back. Throws RangeError above one SOL a byte.
   */
  setRent(lamportsPerByte: bigint): void;
  /**
   * The wallet with this name, founded with `funds` in the current slot unless it exists already. Its key follows
   * from the chain's seed and the name. Throws when the funds do not make a valid account.
   */
  createWallet(name: string, funds: Funds): LocalWallet;
  /** The wallets founded so far, in that order. */
  wallets(): LocalWallet[];
  /** Gives SOL and stablecoins to any address, all or nothing, and returns the transaction's signature. */
  fund(address: string, funds: Funds): string;
  /**
   * Listens for JSON-RPC over HTTP on `port`; and for subscriptions over websockets on the next one, where an unmodified
   * `Connection` looks for them (and on `port`, too). With port 0 any two free ports are taken. Rejects with a sentence when
   * one is in use.
   */
  listen(options: { readonly port: number; readonly host: string }): Promise<Listener>;
  /** Ends waiting calls, closes listeners and the journal. A later `fetch` fails like a dead network. */
  close(): Promise<void>;
}
