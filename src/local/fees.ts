/** Computes a transaction's fee in lamports from its message alone, as a node answers getFeeForMessage. */
import { MessageV1, type VersionedMessage } from "@solana/web3.js";
import { priorityFeeOf, SET_COMPUTE_UNIT_LIMIT, SET_COMPUTE_UNIT_PRICE } from "../solana/compute-budget.ts";
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM, UPGRADEABLE_LOADER } from "../solana/programs.ts";

/** Per signature, on every cluster. */
const LAMPORTS_PER_SIGNATURE = 5000n;

/** Compute units allotted to an instruction that no ComputeBudget instruction speaks of (agave since SIMD-0170). */
const BUILTIN_UNITS = 3_000;
const PROGRAM_UNITS = 200_000;

/** Programs that are part of the runtime. */
const BUILTINS = new Set([
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  "Vote111111111111111111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  UPGRADEABLE_LOADER,
  "LoaderV411111111111111111111111111111111111",
]);

/** Programs whose signatures, listed in their instruction data, are paid like those of the transaction. */
const SIGNATURE_PROGRAMS = new Set([
  "Ed25519SigVerify111111111111111111111111111",
  "KeccakSecp256k11111111111111111111111111111",
  "Secp256r1SigVerify1111111111111111111111111",
]);

/**
 * The fee in lamports: signatures, and the priority fee (price × unit limit, rounded up), which a message of version 1
 * states.
 */
export function feeFor(message: VersionedMessage): bigint {
  let signatures = BigInt(message.header.numRequiredSignatures);
  let defaultUnits = 0;
  let limit: number | undefined;
  let price = 0n;
  for (const { programIdIndex, data } of message.compiledInstructions) {
    const program = message.staticAccountKeys[programIdIndex]?.toBase58() ?? "";
    const bytes = Buffer.from(data);
    if (SIGNATURE_PROGRAMS.has(program)) signatures += BigInt(bytes[0] ?? 0);
    else defaultUnits += BUILTINS.has(program) ? BUILTIN_UNITS : PROGRAM_UNITS;
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    if (bytes[0] === SET_COMPUTE_UNIT_LIMIT && bytes.length >= 5) limit = bytes.readUInt32LE(1);
    if (bytes[0] === SET_COMPUTE_UNIT_PRICE && bytes.length >= 9) price = bytes.readBigUInt64LE(1);
  }
  const ofSignatures = signatures * LAMPORTS_PER_SIGNATURE;
  if (message instanceof MessageV1) return ofSignatures + BigInt(message.transactionConfig.priorityFee ?? 0);
  return ofSignatures + priorityFeeOf(limit ?? defaultUnits, price);
}
