/** Compiles a plan to the message that its signers sign, and computes its size in bytes. */
import { ComputeBudgetProgram, PublicKey, type MessageV0 } from "@solana/web3.js";
import type { Address } from "../../address.ts";
import { compileMessage } from "./compile-message.ts";
import { computeLimit } from "./compute-limit.ts";
import type { PlannedInstruction } from "./planned-instruction.ts";

/** Every message begins with the compute limit and the priority fee. */
export const BUDGET_INSTRUCTIONS = 2;

/** Terms of a message, besides its moves. */
interface MessageTerms {
  /** The priority fee in millionths of a lamport per compute unit. */
  readonly unitPrice: bigint;
  readonly blockhash: string;
}

/** Terms for a message whose length or accounts are of interest: neither depends on them. */
export const ANY_TERMS: MessageTerms = { unitPrice: 0n, blockhash: "1".repeat(32) };

/** A v0 message without lookup tables. Throws `RangeError` for more accounts than a message can name. */
export function compilePlan(
  feePayer: Address,
  planned: readonly PlannedInstruction[],
  { unitPrice, blockhash }: MessageTerms,
): MessageV0 {
  return compileMessage({
    feePayer: new PublicKey(feePayer),
    blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: computeLimit(planned) }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice }),
      ...planned.map(({ instruction }) => instruction),
    ],
  });
}

/** Bytes of the message with its signatures. Counted, since web3.js writes nothing that is longer than 1,232 bytes. */
export function signedSize({ header, staticAccountKeys, compiledInstructions }: MessageV0): number {
  const instructions = compiledInstructions.map(
    ({ accountKeyIndexes, data }) => 1 + listSize(accountKeyIndexes.length, 1) + listSize(data.length, 1),
  );
  return (
    listSize(header.numRequiredSignatures, SIGNATURE_BYTES) +
    VERSION_AND_HEADER_BYTES +
    listSize(staticAccountKeys.length, KEY_BYTES) +
    KEY_BYTES +
    listSize(instructions.length, 0) +
    instructions.reduce((sum, size) => sum + size, 0) +
    listSize(0, 0)
  );
}

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_AND_HEADER_BYTES = 4;

/** A list begins with its length, which takes one byte up to 127, and two bytes for all lengths that occur here. */
function listSize(length: number, itemBytes: number): number {
  return (length < 0x80 ? 1 : 2) + length * itemBytes;
}
