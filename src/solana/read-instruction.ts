/** The instruction allow-list: the meaning of an instruction that a wallet payment may contain. */
import {
  SET_COMPUTE_UNIT_LIMIT,
  SET_COMPUTE_UNIT_PRICE,
  MAX_COMPUTE_UNITS,
  priorityFeeOf,
} from "./compute-budget.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.ts";
import type { ResolvedInstruction } from "./resolve-instructions.ts";
import { MessageV1 } from "@solana/web3.js";
import type { ReadableMessage } from "./message-v1.ts";

/** The meaning of an instruction. Addresses are base58, amounts base units; `references` are accounts that no program reads. */
export type DecodedInstruction =
  | { readonly does: "nothing" }
  | { readonly does: "limit_compute"; readonly units: number }
  | { readonly does: "price_compute"; readonly microLamports: bigint }
  | {
      readonly does: "transfer_sol";
      readonly from: string;
      readonly to: string;
      readonly amount: bigint;
      readonly references: readonly string[];
    }
  | {
      readonly does: "transfer_token";
      readonly source: string;
      readonly mint: string;
      readonly destination: string;
      readonly authority: string;
      readonly amount: bigint;
      readonly decimals: number;
      readonly references: readonly string[];
    }
  | {
      readonly does: "create_token_account";
      readonly payer: string;
      readonly account: string;
      readonly owner: string;
      readonly mint: string;
      readonly tokenProgram: string;
    }
  | { readonly does: "use_nonce" }
  | { readonly does: "something_else" };

const SOMETHING_ELSE: DecodedInstruction = { does: "something_else" };
const NOTHING: DecodedInstruction = { does: "nothing" };

/**
 * Reads one instruction. Wallets insert instructions of their own anywhere, so position says nothing. Data must have
 * exactly the length its program defines; accounts beyond those a program reads are ignored as the program ignores
 * them (Solana Pay hangs its reference keys there).
 */
export function readInstruction(instruction: ResolvedInstruction): DecodedInstruction {
  const { program } = instruction;
  if (program === SYSTEM_PROGRAM) return readSystem(instruction);
  if (program === TOKEN_PROGRAM) return readToken(instruction);
  if (program === ASSOCIATED_TOKEN_PROGRAM) return readAssociatedToken(instruction);
  if (program === COMPUTE_BUDGET_PROGRAM) return readComputeBudget(instruction);
  if (program === LIGHTHOUSE_PROGRAM) return readLighthouse(instruction);
  return MEMO_PROGRAMS.has(program) ? NOTHING : SOMETHING_ELSE;
}

const SYSTEM_TRANSFER = 2;
const SYSTEM_ADVANCE_NONCE = 4;
const SYSTEM_TRANSFER_BYTES = 12;

function readSystem({ accounts, data }: ResolvedInstruction): DecodedInstruction {
  const view = viewOf(data);
  if (data.length < 4) return SOMETHING_ELSE;
  const type = view.getUint32(0, true);
  if (type === SYSTEM_ADVANCE_NONCE) return { does: "use_nonce" };
  const [from, to, ...references] = accounts;
  if (type !== SYSTEM_TRANSFER || data.length !== SYSTEM_TRANSFER_BYTES) return SOMETHING_ELSE;
  if (from === undefined || to === undefined) return SOMETHING_ELSE;
  return { does: "transfer_sol", from, to, amount: view.getBigUint64(4, true), references };
}

const TOKEN_TRANSFER_CHECKED = 12;
const TOKEN_TRANSFER_CHECKED_BYTES = 10;

function readToken({ accounts, data }: ResolvedInstruction): DecodedInstruction {
  const [source, mint, destination, authority, ...references] = accounts;
  if (data[0] !== TOKEN_TRANSFER_CHECKED || data.length !== TOKEN_TRANSFER_CHECKED_BYTES) {
    return SOMETHING_ELSE;
  }
  if (source === undefined || mint === undefined || destination === undefined || authority === undefined) {
    return SOMETHING_ELSE;
  }
  const view = viewOf(data);
  const [amount, decimals] = [view.getBigUint64(1, true), view.getUint8(9)];
  return { does: "transfer_token", source, mint, destination, authority, amount, decimals, references };
}

const ASSOCIATED_CREATE = 0;
const ASSOCIATED_CREATE_IDEMPOTENT = 1;

function readAssociatedToken({ accounts, data }: ResolvedInstruction): DecodedInstruction {
  const [payer, account, owner, mint, systemProgram, tokenProgram] = accounts;
  // The first version of `create` had no data at all.
  const [type = ASSOCIATED_CREATE] = data;
  if (data.length > 1 || (type !== ASSOCIATED_CREATE && type !== ASSOCIATED_CREATE_IDEMPOTENT)) {
    return SOMETHING_ELSE;
  }
  if (payer === undefined || account === undefined || owner === undefined) return SOMETHING_ELSE;
  if (mint === undefined || tokenProgram === undefined || systemProgram !== SYSTEM_PROGRAM) {
    return SOMETHING_ELSE;
  }
  return { does: "create_token_account", payer, account, owner, mint, tokenProgram };
}

const REQUEST_HEAP_FRAME = 1;
const SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT = 4;

function readComputeBudget({ data }: ResolvedInstruction): DecodedInstruction {
  const view = viewOf(data);
  if (data[0] === SET_COMPUTE_UNIT_PRICE && data.length === 9) {
    return { does: "price_compute", microLamports: view.getBigUint64(1, true) };
  }
  if (data.length !== 5) return SOMETHING_ELSE;
  if (data[0] === SET_COMPUTE_UNIT_LIMIT) return { does: "limit_compute", units: view.getUint32(1, true) };
  const free = data[0] === REQUEST_HEAP_FRAME || data[0] === SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT;
  return free ? NOTHING : SOMETHING_ELSE;
}

// Lighthouse's first two instructions write and close accounts at the payer's cost; all the others only assert
// (programs/lighthouse/src/instruction.rs, 17 instructions).
const LIGHTHOUSE_FIRST_ASSERTION = 2;
const LIGHTHOUSE_LAST_ASSERTION = 16;

function readLighthouse({ data }: ResolvedInstruction): DecodedInstruction {
  const [type = 0] = data;
  return type >= LIGHTHOUSE_FIRST_ASSERTION && type <= LIGHTHOUSE_LAST_ASSERTION ? NOTHING : SOMETHING_ELSE;
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}

/**
 * 0.05 SOL, far above what wallets bid in a rush. It only stops a transaction whose declared payment is bait and whose
 * priority fee empties the sender's wallet.
 */
export const MAX_PRIORITY_FEE = 50_000_000n;

/**
 * The priority fee in lamports at most: a transaction that sets no limit of its own may compute as much as any. A message
 * of version 1 states the whole fee, and its instructions bid nothing.
 */
export function priorityFee(message: ReadableMessage, meanings: readonly DecodedInstruction[]): bigint {
  if (message instanceof MessageV1) return BigInt(message.transactionConfig.priorityFee ?? 0);
  let units = MAX_COMPUTE_UNITS;
  let microLamports = 0n;
  for (const meaning of meanings) {
    if (meaning.does === "limit_compute" && meaning.units < units) units = meaning.units;
    if (meaning.does === "price_compute") microLamports = meaning.microLamports;
  }
  return priorityFeeOf(units, microLamports);
}
