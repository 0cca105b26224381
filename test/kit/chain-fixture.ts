/** A local chain whose slots pass only when a test says so, with the production ledger in front of it. */
import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import type { Address } from "../../src/core/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { solanaLedger, type EndpointOptions, type SolanaLedgerOptions } from "../../src/solana/index.ts";
import { createLocalChain, type Funds, type LocalChain } from "../../src/local/index.ts";
import { joinTransaction, splitTransaction } from "../../src/ledger/wire-format.ts";
import { type Clock, elapsed, silentLogger } from "../../src/core/runtime.ts";
import { virtualClock, type VirtualClock } from "./virtual-clock.ts";

/** A funded key pair. */
export interface Wallet {
  readonly address: Address;
  /** 64 bytes, secret then public key. */
  readonly secretKey: Uint8Array;
}

/** A chain, its clock and a ledger that asks it in this process. */
export interface ChainFixture {
  readonly chain: LocalChain;
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly mints: { readonly USDC: Address; readonly USDT: Address };
  /** The wallet of this name, with `funds` (base units), confirmed. */
  wallet(name: string, funds?: Funds): Wallet;
  /** Another ledger over the same chain, for tests that put nodes of their own in between. */
  ledgerOf(endpoints: readonly EndpointOptions[], more?: Partial<Pick<SolanaLedgerOptions, "fees">>): Ledger;
  close(): Promise<void>;
}

/** What a send of SOL costs that was built here: its signature, and the least bid for each of 60,500 compute units. */
export const FEE_OF_SOL_SEND = 5_061n;

/** Slots until what is in the current one is finalized, with one to spare. */
export const SLOTS_TO_FINALITY = 33;

/** A chain that is kept, and the time at which it is gone on with. */
export interface KeptChain {
  readonly journal: string;
  readonly now?: number;
}

/** Makes the fixture. Slots pass by `chain.advance` only; time passes by the clock only. */
export async function chainFixture({ now, ...kept }: Partial<KeptChain> = {}): Promise<ChainFixture> {
  const clock = virtualClock(now);
  const chain = await createLocalChain({ clock, slotMs: 0, ...kept });
  // The first blocks of a chain have no finalized one before them.
  chain.advance(SLOTS_TO_FINALITY);
  const ledgerOf: ChainFixture["ledgerOf"] = (endpoints, more = {}) =>
    solanaLedger({ ...more, endpoints, clock: blockClock(chain, clock), logger: silentLogger });
  // Between two blocks of this chain any time passes: of clocks it tells nothing, and a ledger of `ledgerOf` tells it all the same.
  const ledger = { ...ledgerOf([{ url: "http://local", fetch: chain.fetch }]), time: async () => null };
  return {
    chain,
    clock,
    ledger,
    ledgerOf,
    mints: chain.mints as ChainFixture["mints"],
    wallet: (name, funds = {}) => {
      const { address, secretKey } = chain.createWallet(name, funds);
      chain.advance(2);
      return { address: address as Address, secretKey };
    },
    close: async () => {
      await ledger.close();
      await chain.close();
    },
  };
}

const SLOT_MS = 400;

/**
 * The clock of a ledger over a chain whose slots a test lets pass: each takes its time for the ledger too, so that what it
 * remembers for a while gets older with the chain. What it measures by time that nobody sets goes by the clock alone, as the
 * times of blocks do.
 */
export function blockClock(chain: Pick<LocalChain, "slot">, clock: Clock): Clock {
  const { sleep } = clock;
  return { now: () => clock.now() + chain.slot() * SLOT_MS, elapsed: () => elapsed(clock), sleep };
}

const KEY_BYTES = 32;

/** Signs the unsigned bytes of a one-signer transaction as a wallet does, and returns them in base64. */
export function signPayment(unsigned: Uint8Array, secretKey: Uint8Array): string {
  const message = splitTransaction(unsigned)?.message;
  if (message === undefined) throw new TypeError("a wallet signs a transaction");
  const signed = joinTransaction(message, [sign(null, message, signingKey(secretKey))]);
  return Buffer.from(signed).toString("base64");
}

/** The key of a wallet. As JWK it is read in a tenth of the time that DER takes. */
export function signingKey(secretKey: Uint8Array): KeyObject {
  const half = (from: number): string =>
    Buffer.from(secretKey.subarray(from, from + KEY_BYTES)).toString("base64url");
  const jwk = { kty: "OKP", crv: "Ed25519", d: half(0), x: half(KEY_BYTES) };
  return createPrivateKey({ key: jwk, format: "jwk" });
}
