/** The chain's own keys: made and used by node:crypto, which is many times as fast as the library inside web3.js. */
import { type KeyObject, sign } from "node:crypto";
import { PublicKey } from "@solana/web3.js";
import { privateKeyOf, publicKeyOf } from "../ed25519.ts";

/** An Ed25519 key pair. */
export class KeyPair {
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
