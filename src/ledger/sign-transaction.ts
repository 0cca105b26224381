/** Signing what the ledger built: the one place where keys and transactions meet. Knows no chain's library. */
import { createHash, sign as signWith } from "node:crypto";
import bs58 from "bs58";
import { addressOf, type Address } from "../core/address.ts";
import { isSignedBy, privateKeyOf, publicKeyOf } from "../core/ed25519.ts";
import type { UnsignedTransaction } from "./routing.ts";
import { joinTransaction } from "./wire-format.ts";

/**
 * Signs for one address: a key in this process (`keypairSigner`), or a key service of the host's own that
 * never lets its key out. It decides nothing about what it signs, and may be asked for the same message again.
 */
export interface Signer {
  /** The base58 public key. */
  readonly address: Address;
  /**
   * How long an answer is waited for, in milliseconds, 1,000 to 3,600,000: minutes where people approve. Default:
   * `partDeadlineMs` of the service, 10 s.
   */
  readonly deadlineMs?: number;
  /**
   * The Ed25519 signature (64 bytes) over exactly these bytes, the whole message of a transaction. Rejects when it cannot
   * sign: nothing was sent then, and the caller tries again later. The signature is verified. One request for a message is
   * open at a time. `signal` is aborted at the deadline; an answer that comes all the same is used where the same bytes are
   * asked for again.
   */
  sign(message: Uint8Array, signal?: AbortSignal): Promise<Uint8Array>;
}

/** A transaction ready to be broadcast, with all that must be stored before its first byte leaves. */
export interface SignedTransaction {
  /** Wire format. */
  readonly bytes: Uint8Array;
  /** First signature, base58: the transaction's identity. */
  readonly signature: string;
  /** SHA-256 of the message, hex: what the chain itself dedupes by. */
  readonly messageHash: string;
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  /** No block of an earlier slot can hold it. */
  readonly firstSlot: number;
}

/**
 * A transaction could not be signed in full. Its message names addresses, never keys or signatures.
 *
 * @example
 * ```ts
 * import { keypairSigner, SigningFailed } from "paystate";
 * import type { Signer } from "paystate";
 *
 * const { address } = keypairSigner(new Uint8Array(32).fill(7));
 * // A key service that is out of reach: nothing was sent, and the caller tries again later.
 * const remote: Signer = { address, sign: () => Promise.reject(new SigningFailed("the key service is silent")) };
 * await remote.sign(new Uint8Array()).catch((error: Error) => console.log(error.name)); // SigningFailed
 * ```
 */
export class SigningFailed extends Error {
  override readonly name = "SigningFailed";
}

const SEED_BYTES = 32;
const SECRET_KEY_BYTES = 64;
const SIGNATURE_BYTES = 64;

/**
 * A signer whose key is in this process: a 32-byte seed, or 64 bytes of seed and public key, the form of Solana's own
 * key files. Throws `TypeError`, which never quotes the key, for any other length and for a foreign public half. The
 * bytes are copied; nothing printed or serialised from the signer shows them.
 *
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { keypairSigner } from "paystate";
 *
 * const signer = keypairSigner(randomBytes(32));
 * const signature = await signer.sign(Buffer.from("the message of a transaction"));
 * console.log(signature.length); // 64
 * ```
 */
export function keypairSigner(secretKey: Uint8Array): Signer {
  if (secretKey.length !== SEED_BYTES && secretKey.length !== SECRET_KEY_BYTES) {
    throw new TypeError("a secret key is 32 bytes, or 64 with its public key");
  }
  const key = privateKeyOf(secretKey.subarray(0, SEED_BYTES));
  const publicKey = publicKeyOf(key);
  if (
    secretKey.length === SECRET_KEY_BYTES &&
    !Buffer.from(publicKey).equals(secretKey.subarray(SEED_BYTES))
  ) {
    throw new TypeError("the public half of a secret key does not belong to it");
  }
  return {
    address: addressOf(publicKey),
    sign: async (message) => Uint8Array.from(signWith(null, message, key)),
  };
}

/**
 * Collects the signatures of all that the message needs, verifies each, and puts the wire format together. `signers` may
 * hold more than are needed; these are not asked. `presigned` holds signatures that were made elsewhere over the same
 * message, such as a user's for a swap; all of them are verified before anybody is asked to sign.
 *
 * Rejects with `SigningFailed` for a signer that is missing and for a signature that does not verify, and with what a
 * signer rejects with.
 *
 * @example
 * ```ts
 * import { keypairSigner, signTransaction } from "paystate";
 * import { systemClock } from "paystate/engine";
 * import { createLocalChain } from "paystate/local";
 * import { solanaLedger } from "paystate/solana";
 *
 * const chain = await createLocalChain({ clock: systemClock });
 * const ledger = solanaLedger({ endpoints: [{ url: "http://local.invalid", fetch: chain.fetch }] });
 * const ada = keypairSigner(chain.createWallet("ada", { lamports: 2_000_000_000n }).secretKey);
 * const bob = keypairSigner(chain.createWallet("bob", { lamports: 1_000_000_000n }).secretKey);
 *
 * const sol = { mint: null, decimals: 9, accountPayer: null };
 * const unsigned = await ledger.buildTransaction({
 *   feePayer: ada.address,
 *   moves: [{ ...sol, does: "transfer", from: ada.address, to: bob.address, amount: 1_000n }],
 * });
 * const signed = await signTransaction(unsigned, [ada]); // store it before it is sent
 * await ledger.broadcast(signed.bytes);
 * const [status] = await ledger.statuses([signed.signature]);
 * console.log(status?.error); // null
 *
 * await ledger.close();
 * await chain.close();
 * ```
 */
export async function signTransaction(
  unsigned: UnsignedTransaction,
  signers: readonly Signer[],
  presigned: ReadonlyMap<Address, Uint8Array> = new Map(),
): Promise<SignedTransaction> {
  const { message, blockhash, lastValidBlockHeight, firstSlot } = unsigned;
  for (const [address, signature] of presigned) expectSigned(address, message, signature);
  const ways = unsigned.signers.map((address): (() => Promise<Uint8Array>) => {
    const given = presigned.get(address);
    if (given !== undefined) return async () => given;
    const signer = signers.find((each) => each.address === address);
    if (signer === undefined) throw new SigningFailed(`nobody signs for ${address}`);
    return async () => {
      // A copy, since the bytes are used again after foreign code has had them.
      const signature = await signer.sign(Uint8Array.from(message));
      expectSigned(address, message, signature);
      return signature;
    };
  });
  const signatures = await Promise.all(ways.map((sign) => sign()));
  return {
    bytes: joinTransaction(message, signatures),
    signature: bs58.encode(signatures[0] ?? new Uint8Array()),
    messageHash: createHash("sha256").update(message).digest("hex"),
    blockhash,
    lastValidBlockHeight,
    firstSlot,
  };
}

function expectSigned(address: Address, message: Uint8Array, signature: Uint8Array): void {
  if (signature.length === SIGNATURE_BYTES && isSignedBy(bs58.decode(address), message, signature)) return;
  throw new SigningFailed(`the signature of ${address} is not one over this message`);
}
