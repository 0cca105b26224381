/** Decodes a landed transaction as a node reports it: its bytes, and its effects. */
import bs58 from "bs58";
import { VersionedMessage } from "@solana/web3.js";
import { createHash } from "node:crypto";
import { z } from "zod";
import { addressOf, type Address } from "../../address.ts";
import { isSignedBy } from "../../ed25519.ts";
import { splitTransaction } from "../../ledger/wire-format.ts";
import { expectShape } from "../endpoint-failure.ts";
import { addressShape, amountShape } from "./account.ts";

// Versions from 1 on put the message first and the signatures behind it; its second byte counts them.
const VERSION_1 = 0x81;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
// Before its keys stand the version, three counts, the mask of its settings, the blockhash, and two more counts.
const KEYS_OF_VERSION_1 = 1 + 3 + 4 + 32 + 2;

/** The chain's error in its JSON form; null for success. A missing field is not a success. */
export const chainErrorShape = z.union([z.null(), z.string(), z.record(z.string(), z.unknown())]);

const countShape = z.int().nonnegative();

const tokenBalanceShape = z.object({
  accountIndex: countShape,
  mint: addressShape,
  owner: addressShape.optional(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d+$/) }),
});

/** Metadata of a transaction; balances in lamports, by the index of the account. */
const metaShape = z.object({
  err: chainErrorShape,
  fee: countShape,
  preBalances: z.array(amountShape),
  postBalances: z.array(amountShape),
  preTokenBalances: z.array(tokenBalanceShape).nullish(),
  postTokenBalances: z.array(tokenBalanceShape).nullish(),
  loadedAddresses: z.object({ writable: z.array(addressShape), readonly: z.array(addressShape) }).nullish(),
});

/** The balance of an account in a mint, before or after a transaction. */
export type TokenBalance = z.output<typeof tokenBalanceShape>;

const bytesShape = z
  .tuple([z.string(), z.literal("base64")])
  .transform(([content]): Uint8Array => Buffer.from(content, "base64"));

/** An answer of `getTransaction`, asked for in base64. */
export const landedShape = z.object({
  slot: countShape,
  /** Unix seconds. */
  blockTime: z.int().nullish(),
  transaction: bytesShape,
  meta: metaShape.nullable(),
});

/** An answer of `getBlock`, all of its transactions asked for in base64. */
export const blockShape = z.object({
  blockhash: z.string(),
  previousBlockhash: z.string(),
  parentSlot: countShape,
  blockHeight: countShape,
  transactions: z.array(
    z.object({ transaction: bytesShape, meta: z.object({ err: chainErrorShape }).nullable() }),
  ),
});

export type LandedTransaction = z.output<typeof landedShape>;
export type Block = z.output<typeof blockShape>;

/** The first signature of a transaction, base58: its name. */
export function signatureOf(bytes: Uint8Array): string {
  const [first] = taken(bytes).signatures;
  expectShape(first !== undefined, "transaction without a signature");
  return bs58.encode(first);
}

/** SHA-256 of what the signatures are over, hex: what the chain dedupes by. */
export function messageHashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(taken(bytes).message).digest("hex");
}

/** The participants of a transaction. */
interface Participants {
  /** The fee payer first. */
  readonly signers: readonly Address[];
  /** Accounts that the message itself names; accounts from lookup tables are in the meta. */
  readonly accounts: readonly Address[];
}

/** The accounts that signed bytes write, without those of lookup tables: the fee payer first. Empty where there are none. */
export function writtenAccounts(bytes: Uint8Array): readonly Address[] {
  const message = splitTransaction(bytes)?.message;
  if (message === undefined) return [];
  const parsed = VersionedMessage.deserialize(message);
  return parsed.staticAccountKeys
    .filter((_, index) => parsed.isAccountWritable(index))
    .map((key) => addressOf(key.toBytes()));
}

/** Reads the message's own keys. */
export function participantsOf(bytes: Uint8Array): Participants {
  const { header, staticAccountKeys } = VersionedMessage.deserialize(taken(bytes).message);
  const accounts = staticAccountKeys.map((key) => addressOf(key.toBytes()));
  return { accounts, signers: accounts.slice(0, header.numRequiredSignatures) };
}

/**
 * Throws when these bytes do not belong to the signature: every signature must be valid for its signer and the message.
 * So a node cannot invent bytes or signers for a signature; it can only hide them.
 */
export function expectSigned(bytes: Uint8Array, signature: string): void {
  expectShape(signatureOf(bytes) === signature && isSigned(bytes), "signature");
}

function isSigned(bytes: Uint8Array): boolean {
  const { signatures, message } = taken(bytes);
  const keys = signerKeys(message);
  const isGood = (signature: Uint8Array, index: number): boolean => {
    const key = keys[index];
    return key !== undefined && isSignedBy(key, message, signature);
  };
  return signatures.length === keys.length && signatures.every(isGood);
}

/** The signers' keys of a message of any version: web3.js cannot read version 1. */
function signerKeys(message: Uint8Array): readonly Uint8Array[] {
  if (message[0] === VERSION_1) {
    return Array.from({ length: message[1] ?? 0 }, (_, index) => {
      const start = KEYS_OF_VERSION_1 + index * KEY_BYTES;
      return message.slice(start, start + KEY_BYTES);
    });
  }
  const { header, staticAccountKeys } = VersionedMessage.deserialize(message);
  return staticAccountKeys.slice(0, header.numRequiredSignatures).map((key) => key.toBytes());
}

function taken(bytes: Uint8Array): {
  readonly signatures: readonly Uint8Array[];
  readonly message: Uint8Array;
} {
  const split = bytes[0] === VERSION_1 ? splitLater(bytes) : splitTransaction(bytes);
  expectShape(split !== null, "transaction");
  return split;
}

function splitLater(bytes: Uint8Array): ReturnType<typeof splitTransaction> {
  const count = bytes[1] ?? 0;
  const end = bytes.length - count * SIGNATURE_BYTES;
  if (count === 0 || end <= 0) return null;
  return {
    signatures: Array.from({ length: count }, (_, index) =>
      bytes.slice(end + index * SIGNATURE_BYTES, end + (index + 1) * SIGNATURE_BYTES),
    ),
    message: bytes.slice(0, end),
  };
}
