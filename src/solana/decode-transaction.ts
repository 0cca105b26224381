/** Decodes base64 text to a transaction whose every byte is understood, or tells why it is refused. Asks no node. */
import { MessageV1, VersionedMessage } from "@solana/web3.js";
import type { SignatureFault } from "../ledger/ledger.ts";
import { readTransactionText, splitTransaction, VERSION_1 } from "../ledger/wire-format.ts";
import { keepsLimits, serializeMessage, type ReadableMessage } from "./message-v1.ts";

/** A transaction of a version that we can read in full. */
export interface DecodedTransaction {
  /** The whole wire format as received. */
  readonly bytes: Uint8Array;
  /** The signed part, as received. */
  readonly messageBytes: Uint8Array;
  readonly message: ReadableMessage;
  /** Signatures in the order of the required signers. */
  readonly signatures: readonly Uint8Array[];
}

// A legacy or v0 transaction begins with the number of its signatures, which 1,232 bytes keep below 20; later versions
// begin with their version byte, and a message of version n begins with 0x80 + n.
const VERSION_FLAG = 0x80;
const VERSION_0 = 0x80;

/**
 * Decodes strictly: canonical base64 without whitespace, legacy or v0 of at most 1,232 bytes or version 1 of at most 4,096;
 * no byte that the decoded transaction does not account for; every index in range. Never throws.
 */
export function decodeTransaction(
  text: string,
):
  | { decoded: DecodedTransaction }
  | { refused: Extract<SignatureFault, "not_base64" | "too_large" | "undecodable" | "unsupported_version"> } {
  const read = readTransactionText(text);
  if ("refused" in read) return read;
  const { bytes } = read;
  const [first = 0] = bytes;
  if (first >= VERSION_FLAG && first !== VERSION_1) return { refused: "unsupported_version" };
  const split = splitTransaction(bytes);
  if (split === null) return { refused: "undecodable" };
  const { signatures, message: messageBytes } = split;
  const [messageStart = 0] = messageBytes;
  if (first !== VERSION_1 && messageStart > VERSION_0) return { refused: "unsupported_version" };
  const message = readStrictly(messageBytes);
  if (message?.header.numRequiredSignatures !== signatures.length) return { refused: "undecodable" };
  return { decoded: { bytes, messageBytes, message, signatures } };
}

/** Null for bytes that are no message, or not all of which are understood. */
function readStrictly(messageBytes: Uint8Array): ReadableMessage | null {
  try {
    const message = VersionedMessage.deserialize(messageBytes);
    // The rewritten message differs if a byte was skipped or a length was not written the shortest way.
    const isWhole = Buffer.from(serializeMessage(message)).equals(messageBytes);
    return isWhole && isSound(message) ? message : null;
  } catch {
    return null;
  }
}

/** The validator's own rules for a message ("sanitize"). web3.js applies one of them: as many signatures as required. */
function isSound(message: ReadableMessage): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const keys = message.staticAccountKeys;
  const lookups = message.addressTableLookups;
  const loaded = lookups.map((lookup) => lookup.writableIndexes.length + lookup.readonlyIndexes.length);
  const total = loaded.reduce((sum, count) => sum + count, keys.length);
  return (
    // The first signer pays the fee, so at least one signer is writable.
    numReadonlySignedAccounts < numRequiredSignatures &&
    (!(message instanceof MessageV1) || keepsLimits(message)) &&
    numRequiredSignatures + numReadonlyUnsignedAccounts <= keys.length &&
    new Set(keys.map((key) => key.toBase58())).size === keys.length &&
    loaded.every((count) => count > 0) &&
    message.compiledInstructions.every(
      ({ programIdIndex, accountKeyIndexes }) =>
        // Programs cannot be loaded from a lookup table, and the fee payer is none.
        programIdIndex > 0 &&
        programIdIndex < keys.length &&
        accountKeyIndexes.every((index) => index < total),
    )
  );
}
