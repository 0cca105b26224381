/** Decodes a landed transaction as a node reports it: its bytes, and its effects. */
import bs58 from "bs58";
import { VersionedMessage } from "@solana/web3.js";
import { createHash } from "node:crypto";
import { z } from "zod";
import { addressOf, type Address } from "../../core/address.ts";
import { isSignedBy } from "../../core/ed25519.ts";
import { splitTransaction, VERSION_1 } from "../../ledger/wire-format.ts";
import { expectShape } from "../endpoint-failure.ts";
import { addressShape, amountShape } from "./account.ts";

const KEY_BYTES = 32;
// Before the keys of a message of version 1 stand the version, three counts, the mask of its settings, the blockhash, and two
// more counts; the second one counts the keys.
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

/** An answer of `getBlock`, which was asked for the accounts of its transactions. */
export const blockShape = z.object({
  blockhash: z.string(),
  previousBlockhash: z.string(),
  parentSlot: countShape,
  blockHeight: countShape,
  transactions: z.array(
    z.object({
      transaction: z.object({
        signatures: z.tuple([z.string()], z.string()),
        accountKeys: z.array(z.object({ pubkey: z.string() })),
      }),
      meta: z.object({ err: chainErrorShape }).nullable(),
    }),
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

export function participantsOf(bytes: Uint8Array): Participants {
  const { signers, keys } = keysOf(taken(bytes).message);
  const accounts = keys.map(addressOf);
  return { accounts, signers: accounts.slice(0, signers) };
}

/**
 * Whether these bytes belong to the signature: every signature must be valid for its signer and the message. So a node cannot
 * invent bytes or signers for a signature; it can only hide them.
 */
export function isSignedAs(bytes: Uint8Array, signature: string): boolean {
  return signatureOf(bytes) === signature && isSigned(bytes);
}

/** Throws where they do not: see `isSignedAs`. */
export function expectSigned(bytes: Uint8Array, signature: string): void {
  expectShape(isSignedAs(bytes, signature), "signature");
}

function isSigned(bytes: Uint8Array): boolean {
  const { signatures, message } = taken(bytes);
  const { signers, keys } = keysOf(message);
  const isGood = (signature: Uint8Array, index: number): boolean => {
    const key = keys[index];
    return key !== undefined && isSignedBy(key, message, signature);
  };
  return signatures.length === signers && signatures.every(isGood);
}

/**
 * Keys that a message names, those of its signers first. Other fields of a message of version 1 are not read: a setting that
 * is made later than this program changes no key.
 */
function keysOf(message: Uint8Array): { readonly signers: number; readonly keys: readonly Uint8Array[] } {
  if (message[0] === VERSION_1) {
    const count = message[KEYS_OF_VERSION_1 - 1] ?? 0;
    const keys = Array.from({ length: count }, (_, index) => {
      const start = KEYS_OF_VERSION_1 + index * KEY_BYTES;
      return message.slice(start, start + KEY_BYTES);
    });
    expectShape(
      keys.every(({ length }) => length === KEY_BYTES),
      "transaction",
    );
    return { signers: message[1] ?? 0, keys };
  }
  const { header, staticAccountKeys } = VersionedMessage.deserialize(message);
  return { signers: header.numRequiredSignatures, keys: staticAccountKeys.map((key) => key.toBytes()) };
}

function taken(bytes: Uint8Array): NonNullable<ReturnType<typeof splitTransaction>> {
  const split = splitTransaction(bytes);
  expectShape(split !== null, "transaction");
  return split;
}
