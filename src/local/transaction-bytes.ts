/**
 * From received bytes to a transaction that litesvm may be given. Its binding aborts the whole process on bytes that
 * are no transaction, so everything that can be wrong with the form is found here.
 */
import { createHash } from "node:crypto";
import { MessageV1, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { keepsLimits, mostBytes, serializeMessage, VERSION_1 } from "../solana/message-v1.ts";

/** Account indices are single bytes. */
const MAX_ACCOUNTS = 256;

const SIGNATURE_BYTES = 64;

/** A transaction whose form is sound; nothing is known of its signatures, blockhash or effects. */
export interface DecodedTransaction {
  readonly bytes: Uint8Array;
  readonly transaction: VersionedTransaction;
  readonly version: "legacy" | 0 | 1;
  /** The first signature, base58: the transaction's id. */
  readonly signature: string;
  /** SHA-256 of the signed message: what the chain dedupes by. */
  readonly messageHash: string;
  /** The addresses written in the message itself, in order. */
  readonly staticKeys: readonly string[];
}

/** Why bytes are no transaction. The message continues agave's "invalid transaction: …". */
export class MalformedTransaction extends Error {}

/** Reads a transaction. Throws `MalformedTransaction` for anything that is not one, byte for byte. */
export function decodeTransaction(bytes: Uint8Array): DecodedTransaction {
  const most = mostBytes(bytes[0]);
  if (bytes.length > most) {
    throw new MalformedTransaction(`transaction too large: ${bytes.length} bytes (max: ${most} bytes)`);
  }
  const transaction = parse(bytes);
  const { version } = transaction;
  if (version !== "legacy" && version !== 0 && version !== 1) {
    throw new MalformedTransaction(`transaction version ${String(version)} is not supported by this chain`);
  }
  checkIndices(transaction);
  const [first] = transaction.signatures;
  if (first === undefined) throw new MalformedTransaction("a transaction has at least one signature");
  const message = messageBytes(bytes, transaction.signatures.length);
  return {
    bytes,
    transaction,
    version,
    signature: bs58.encode(first),
    messageHash: createHash("sha256").update(message).digest("hex"),
    staticKeys: transaction.message.staticAccountKeys.map((key) => key.toBase58()),
  };
}

/** The signed part of a transaction's bytes. The count of signatures fits one byte in 1,232 bytes. */
function messageBytes(bytes: Uint8Array, signatures: number): Uint8Array {
  // A message of version 1 comes before its signatures.
  if (bytes[0] === VERSION_1) return bytes.subarray(0, bytes.length - signatures * SIGNATURE_BYTES);
  return bytes.subarray(1 + signatures * SIGNATURE_BYTES);
}

function parse(bytes: Uint8Array): VersionedTransaction {
  let transaction: VersionedTransaction;
  let again: Uint8Array;
  try {
    transaction = VersionedTransaction.deserialize(bytes);
    again = serializeMessage(transaction.message);
  } catch (cause) {
    throw new MalformedTransaction("failed to deserialize the transaction", { cause });
  }
  // Trailing bytes, overlong lengths and truncated fields read without an error but do not come out the same.
  if (!Buffer.from(again).equals(messageBytes(bytes, transaction.signatures.length))) {
    throw new MalformedTransaction("failed to deserialize the transaction");
  }
  return transaction;
}

/** The checks of agave's `sanitize`: contradictory counts, and indices out of range. */
function checkIndices(transaction: VersionedTransaction): void {
  const { message, signatures } = transaction;
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const keys = message.staticAccountKeys.length;
  const lookups = message.addressTableLookups;
  const looked = lookups.map(
    ({ writableIndexes, readonlyIndexes }) => writableIndexes.length + readonlyIndexes.length,
  );
  const accounts = looked.reduce((sum, count) => sum + count, keys);
  const keepsRules = !(message instanceof MessageV1) || (keepsLimits(message) && !hasDuplicates(message));
  const sound =
    keepsRules &&
    numRequiredSignatures > 0 &&
    signatures.length === numRequiredSignatures &&
    numReadonlySignedAccounts < numRequiredSignatures &&
    numRequiredSignatures + numReadonlyUnsignedAccounts <= keys &&
    accounts <= MAX_ACCOUNTS &&
    looked.every((count) => count > 0) &&
    message.compiledInstructions.every(
      ({ programIdIndex, accountKeyIndexes }) =>
        // The fee payer, index 0, cannot be a program, and a program is never looked up.
        programIdIndex > 0 && programIdIndex < keys && accountKeyIndexes.every((index) => index < accounts),
    );
  if (!sound) throw new MalformedTransaction("Transaction failed to sanitize accounts offsets correctly");
}

/** For other versions the runtime finds them when it loads the accounts. */
function hasDuplicates({ staticAccountKeys }: MessageV1): boolean {
  return new Set(staticAccountKeys.map((key) => key.toBase58())).size < staticAccountKeys.length;
}
