/** A signer whose key is held by a key service, through Solana's keychain packages. Knows none of these packages. */
import bs58 from "bs58";
import { parseAddress } from "../core/address.ts";
import { isSignedBy } from "../core/ed25519.ts";
import { SigningFailed, type Signer } from "./sign-transaction.ts";

/** The used part of a signer of `@solana/keychain-core` 1.x (`SolanaSigner`). */
export interface KeychainBackend {
  /** The base58 public key. */
  readonly address: string;
  /**
   * The signatures by address, one record for each message: the bytes to sign, and the signatures that they have
   * already.
   */
  signMessages(
    messages: readonly {
      readonly content: Uint8Array;
      readonly signatures: Readonly<Record<string, Uint8Array>>;
    }[],
    config?: { readonly abortSignal?: AbortSignal },
  ): Promise<readonly Readonly<Record<string, Uint8Array>>[]>;
}

/** Methods of `@solana/signers` that only a backend has which does more than sign. */
const UNFIT_METHODS = {
  signAndSendTransactions: "sends transactions by itself",
  modifyAndSignTransactions: "rewrites what it signs",
  modifyAndSignMessages: "rewrites what it signs",
} as const;
/** Backends that rewrite and send, and did not show a method for it in every version. */
const UNFIT_NAMES: ReadonlyMap<string, string> = new Map([
  ["CrossmintSigner", "rewrites transactions and sends them by itself"],
]);

/**
 * A signer of the service (the sponsor, or the desk) whose key stays with a key service: Vault, AWS KMS, Turnkey and
 * others, as the packages `@solana/keychain-…` 1.x give them. The service stores the bytes of a transaction before they
 * leave, so a backend must sign exactly the given bytes and send nothing. Throws `TypeError` with the name of a backend
 * that rewrites or sends. A signature over other bytes rejects with `SigningFailed`; every other error of the backend
 * passes unchanged.
 *
 * @example
 * ```ts
 * import { createMemorySignerFromBytes } from "@solana/keychain-memory";
 * import { keychainSigner } from "paystate";
 *
 * // In production such as `await createVaultSigner({ … })` of @solana/keychain-vault.
 * const signer = keychainSigner(await createMemorySignerFromBytes(new Uint8Array(32).fill(7)));
 * const signature = await signer.sign(Buffer.from("the message of a transaction"));
 * console.log(signature.length); // 64
 * ```
 */
export function keychainSigner(backend: KeychainBackend): Signer {
  const name = nameOf(backend);
  const unfit = whyUnfit(backend);
  if (unfit !== null) {
    throw new TypeError(`${name} ${unfit}: use a backend that signs the given bytes and sends nothing`);
  }
  const parsed = parseAddress(backend.address);
  if ("fault" in parsed) throw new TypeError(`the address of ${name} is none: ${parsed.fault}`);
  const { address } = parsed;
  return {
    address,
    async sign(message, signal) {
      // A copy, since the backend may write into the given bytes.
      const given = { content: Uint8Array.from(message), signatures: {} };
      const config = signal === undefined ? {} : { abortSignal: signal };
      const [signatures, ...others] = await backend.signMessages([given], config);
      const signature = signatures?.[address];
      if (signature === undefined || others.length > 0) {
        throw new SigningFailed(`${name} did not answer with one signature of ${address}`);
      }
      if (!isSignedBy(bs58.decode(address), message, signature)) {
        throw new SigningFailed(`${name} signed other bytes than those that ${address} was asked to sign`);
      }
      return Uint8Array.from(signature);
    },
  };
}

function whyUnfit(backend: KeychainBackend): string | null {
  for (const [method, fault] of Object.entries(UNFIT_METHODS)) if (method in backend) return fault;
  // A Fireblocks signer in this mode has Fireblocks send what it signs.
  if ("useProgramCall" in backend && backend.useProgramCall === true) {
    return "sends transactions by itself (useProgramCall)";
  }
  return UNFIT_NAMES.get(backend.constructor.name) ?? null;
}

/** The name of the backend's class, such as `VaultSigner`; a plain object has none. */
function nameOf({ constructor: { name } }: KeychainBackend): string {
  return name === "Object" ? "the keychain signer" : name;
}
