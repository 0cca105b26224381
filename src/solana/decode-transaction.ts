/** Decodes base64 text to a transaction whose every byte is understood, or tells why it is refused. Asks no node. */
import { MessageV1, VersionedTransaction, type Message, type MessageV0 } from "@solana/web3.js";
import type { SignatureFault } from "../ledger/ledger.ts";
import { readTransactionText } from "../ledger/wire-format.ts";

/** A transaction of one of the two formats that we can read in full. */
export interface DecodedTransaction {
  /** The whole wire format as received. */
  readonly bytes: Uint8Array;
  /** The signed part, as received. */
  readonly messageBytes: Uint8Array;
  readonly message: Message | MessageV0;
  /** Signatures in the order of the required signers. */
  readonly signatures: readonly Uint8Array[];
}

const SIGNATURE_BYTES = 64;
// A legacy or v0 transaction begins with the number of its signatures, which 1,232 bytes keep below 20; later versions
// begin with their version byte, and a message of version n begins with 0x80 + n.
const VERSION_FLAG = 0x80;
const VERSION_0 = 0x80;

/**
 * Decodes strictly: canonical base64 without whitespace, at most 1,232 bytes, legacy or v0, no byte that the decoded
 * transaction does not account for, every index in range. Never throws.
 */
export function decodeTransaction(
  text: string,
):
  | { decoded: DecodedTransaction }
  | { refused: Extract<SignatureFault, "not_base64" | "too_large" | "undecodable" | "unsupported_version"> } {
  const read = readTransactionText(text);
  if ("refused" in read) return read;
  const { bytes } = read;
  const [signatureCount = 0] = bytes;
  if (signatureCount >= VERSION_FLAG) return { refused: "unsupported_version" };
  const messageBytes = bytes.subarray(1 + signatureCount * SIGNATURE_BYTES);
  const [messageStart] = messageBytes;
  if (messageStart === undefined) return { refused: "undecodable" };
  if (messageStart > VERSION_0) return { refused: "unsupported_version" };
  return decodeStrictly(bytes, messageBytes);
}

function decodeStrictly(
  bytes: Uint8Array,
  messageBytes: Uint8Array,
): { decoded: DecodedTransaction } | { refused: "undecodable" } {
  try {
    const { message, signatures } = VersionedTransaction.deserialize(bytes);
    if (message instanceof MessageV1) return { refused: "undecodable" };
    // What web3.js writes back differs when it skipped a byte or read a length that was not written the shortest way.
    const isWhole = Buffer.from(message.serialize()).equals(messageBytes);
    if (!isWhole || !isSound(message)) return { refused: "undecodable" };
    return { decoded: { bytes, messageBytes, message, signatures } };
  } catch {
    return { refused: "undecodable" };
  }
}

/** The validator's own rules for a message ("sanitize"). Of them web3.js applies one: as many signatures as required. */
function isSound(message: Message | MessageV0): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const keys = message.staticAccountKeys;
  const lookups = message.addressTableLookups;
  const loaded = lookups.map((lookup) => lookup.writableIndexes.length + lookup.readonlyIndexes.length);
  const total = loaded.reduce((sum, count) => sum + count, keys.length);
  return (
    // The first signer pays the fee, so at least one signer is writable.
    numReadonlySignedAccounts < numRequiredSignatures &&
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
