/**
 * Messages of version 1 (SIMD-0385): addresses in full, and the settings of the run in place of instructions that set
 * them. web3.js reads them; what it does not do stands here.
 */
import { MessageV1, type Message, type MessageV0 } from "@solana/web3.js";
import bs58 from "bs58";
import { mostBytes, VERSION_1 } from "../ledger/wire-format.ts";
import { MAX_ADDRESSES, MAX_INSTRUCTIONS } from "./compute-budget.ts";

export { mostBytes, VERSION_1 };

/** A message of a version that we can read in full. */
export type ReadableMessage = Message | MessageV0 | MessageV1;

const MAX_SIGNERS = 12;

/** Bytes of accounts that a transaction may load at most, and what other versions grant to those that name no limit. */
export const MAX_LOADED_BYTES = 64 * 1024 * 1024;

// The heap of a program in bytes, in whole kibibytes.
const KIBIBYTE = 1_024;
const [MIN_HEAP, MAX_HEAP] = [32 * KIBIBYTE, 256 * KIBIBYTE];

/** Settings of a message, each with its bits in the mask and its bytes, in the order of the bytes. */
const SETTINGS = [
  { name: "priorityFee", bits: 0b00011, bytes: 8 },
  { name: "computeUnitLimit", bits: 0b00100, bytes: 4 },
  { name: "loadedAccountsDataSizeLimit", bits: 0b01000, bytes: 4 },
  { name: "heapSize", bits: 0b10000, bytes: 4 },
] as const;

/** The bytes that are signed, of a message of any version. */
export function serializeMessage(message: ReadableMessage): Uint8Array {
  return message instanceof MessageV1 ? serializeVersion1(message) : message.serialize();
}

function serializeVersion1(message: MessageV1): Uint8Array {
  const { header, staticAccountKeys, recentBlockhash, compiledInstructions, transactionConfig } = message;
  const settings = SETTINGS.flatMap(({ name, bits, bytes }) => {
    const value = transactionConfig[name];
    return value === null ? [] : [{ bits, written: littleEndian(value, bytes) }];
  });
  return Uint8Array.from([
    VERSION_1,
    header.numRequiredSignatures,
    header.numReadonlySignedAccounts,
    header.numReadonlyUnsignedAccounts,
    ...littleEndian(
      settings.reduce((mask, { bits }) => mask | bits, 0),
      4,
    ),
    ...bs58.decode(recentBlockhash),
    compiledInstructions.length,
    staticAccountKeys.length,
    ...staticAccountKeys.flatMap((key) => [...key.toBytes()]),
    ...settings.flatMap(({ written }) => written),
    ...compiledInstructions.flatMap(({ programIdIndex, accountKeyIndexes, data }) => [
      programIdIndex,
      accountKeyIndexes.length,
      ...littleEndian(data.length, 2),
    ]),
    ...compiledInstructions.flatMap(({ accountKeyIndexes, data }) => [...accountKeyIndexes, ...data]),
  ]);
}

function littleEndian(value: number, bytes: number): number[] {
  const whole = BigInt(value);
  return Array.from({ length: bytes }, (_, index) => Number((whole >> BigInt(8 * index)) & 0xffn));
}

/** The chain's own limits of a message of version 1, besides those of every message. */
export function keepsLimits({
  header,
  staticAccountKeys,
  compiledInstructions,
  transactionConfig: { heapSize },
}: MessageV1): boolean {
  return (
    header.numRequiredSignatures <= MAX_SIGNERS &&
    staticAccountKeys.length <= MAX_ADDRESSES &&
    compiledInstructions.length <= MAX_INSTRUCTIONS &&
    (heapSize === null || (heapSize % KIBIBYTE === 0 && heapSize >= MIN_HEAP && heapSize <= MAX_HEAP))
  );
}

/** Whether the message says how much it may compute and load. In version 1 one that does not may do neither. */
export function setsLimits(message: ReadableMessage): boolean {
  if (!(message instanceof MessageV1)) return true;
  const { computeUnitLimit, loadedAccountsDataSizeLimit } = message.transactionConfig;
  return (computeUnitLimit ?? 0) > 0 && (loadedAccountsDataSizeLimit ?? 0) > 0;
}
