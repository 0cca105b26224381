/** The genesis of a local chain: its hash, its keys, and the accounts that exist before the first transaction. */
import { createHash, createHmac, type KeyObject, sign } from "node:crypto";
import bs58 from "bs58";
import { PublicKey } from "@solana/web3.js";
import type { AccountState } from "./account-state.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../solana/programs.ts";
import type { GenesisEntry } from "./journal.ts";
import { encodeMint } from "./token-layout.ts";
import { privateKeyOf, publicKeyOf } from "../core/ed25519.ts";

/** Both stablecoins count in millionths, as on mainnet. */
export const STABLECOIN_DECIMALS = 6;

/** 500 million SOL in lamports: more than any test asks for, below the u64 limit with room for every sum. */
const FAUCET_LAMPORTS = 500_000_000_000_000_000n;

/** The chain's own key and addresses, computed from the seed. */
export interface GenesisKeys {
  /** Pays airdrops; mint and freeze authority of both stablecoins. */
  readonly faucet: KeyPair;
  /** Address of the stablecoins' mints: the same on every chain with the same seed. */
  readonly mints: { readonly USDC: string; readonly USDT: string };
}

// Chains with the same seed ask for the same few keys. Nothing of value depends on them.
const MAX_REMEMBERED = 1_000;
const remembered = new Map<string, KeyPair>();

/** The key named `label` of a chain with this seed. */
export function derivedKeypair(seed: string, label: string): KeyPair {
  const bytes = createHmac("sha256", seed).update(label).digest();
  const name = bytes.toString("hex");
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const pair = new KeyPair(bytes);
  const [oldest] = remembered.keys();
  if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  remembered.set(name, pair);
  return pair;
}

/** Chains begun at different times differ in their hash even with the same seed, so that they cannot be confused. */
export function genesisHash(genesis: GenesisEntry): string {
  return bs58.encode(createHash("sha256").update(`genesis/${genesis.seed}/${genesis.time}`).digest());
}

/** The keys of a chain with this seed. */
export function genesisKeys(seed: string): GenesisKeys {
  const mint = (symbol: string): string => derivedKeypair(seed, `mint/${symbol}`).publicKey.toBase58();
  return { faucet: derivedKeypair(seed, "faucet"), mints: { USDC: mint("USDC"), USDT: mint("USDT") } };
}

/** The accounts to put in place before the first transaction; `rentFor` tells the rent minimum of a data length. */
export function genesisAccounts(
  keys: GenesisKeys,
  rentFor: (dataLength: number) => bigint,
): Map<string, AccountState> {
  const authority = keys.faucet.publicKey.toBytes();
  const data = encodeMint({ authority, decimals: STABLECOIN_DECIMALS });
  const mint: AccountState = {
    lamports: rentFor(data.length),
    data,
    owner: TOKEN_PROGRAM,
    executable: false,
  };
  const faucet: AccountState = {
    lamports: FAUCET_LAMPORTS,
    data: new Uint8Array(),
    owner: SYSTEM_PROGRAM,
    executable: false,
  };
  return new Map([
    [keys.faucet.publicKey.toBase58(), faucet],
    [keys.mints.USDC, mint],
    [keys.mints.USDT, mint],
  ]);
}

/** An Ed25519 key pair. */
class KeyPair {
  readonly publicKey: PublicKey;
  readonly #privateKey: KeyObject;
  readonly #seed: Uint8Array;

  /** The pair of a 32-byte seed. */
  constructor(seed: Uint8Array) {
    this.#seed = Uint8Array.from(seed);
    this.#privateKey = privateKeyOf(seed);
    this.publicKey = new PublicKey(publicKeyOf(this.#privateKey));
  }

  /** 64 bytes, secret then public key: the form of web3.js and of the Solana tools' key files. */
  get secretKey(): Uint8Array {
    return Uint8Array.from(Buffer.concat([this.#seed, this.publicKey.toBytes()]));
  }

  /** The signature (64 bytes) over a message. */
  sign(message: Uint8Array): Uint8Array {
    return Uint8Array.from(sign(null, message, this.#privateKey));
  }
}
