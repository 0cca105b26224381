/** Transactions and messages as callers send them: encoded, too long, malformed. */
import bs58 from "bs58";
import {
  type DecodedTransaction,
  decodeTransaction,
  MalformedTransaction,
  MAX_TRANSACTION_BYTES,
} from "../transaction-bytes.ts";
import { invalidParams } from "./errors.ts";

/** Length of the encoded form of 1,232 bytes. Nothing longer is decoded: base58 takes quadratic time. */
const MAX_ENCODED_LENGTH = { base58: 1683, base64: 1644 } as const;

/** Standard alphabet, padded: the forms that agave's decoder accepts. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decodes and checks a transaction. Throws -32602 with agave's words. */
export function readTransaction(encoded: string, encoding: unknown): DecodedTransaction {
  const bytes = readBytes(encoded, encoding);
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    if (error instanceof MalformedTransaction) throw invalidParams(`invalid transaction: ${error.message}`);
    throw error;
  }
}

/** Decodes at most 1,232 bytes. Throws -32602. */
export function readBytes(encoded: string, encoding: unknown): Uint8Array {
  if (encoding !== "base58" && encoding !== "base64") {
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
  }
  const max = MAX_ENCODED_LENGTH[encoding];
  if (encoded.length > max) {
    throw invalidParams(
      `${encoding} encoded transaction too large: ${encoded.length} bytes (max: encoded/raw ${max}/${MAX_TRANSACTION_BYTES})`,
    );
  }
  const bytes = encoding === "base58" ? bs58.decodeUnsafe(encoded) : decodeBase64(encoded);
  if (bytes === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  return bytes;
}

function decodeBase64(encoded: string): Uint8Array | undefined {
  return BASE64.test(encoded) ? Uint8Array.from(Buffer.from(encoded, "base64")) : undefined;
}
