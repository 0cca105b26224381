/** Turns the moves of a plan into instructions of the chain's programs, in the same order. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import type { Address } from "../../core/address.ts";
import { MAX_AMOUNT } from "../../core/amount.ts";
import type { FaultStep } from "../../ledger/order-fault.ts";
import type { Move, MoveOf, TokenProgram } from "../../ledger/routing.ts";
import {
  associatedTokenAccount,
  LONGEST_MARKER,
  markerOf,
  markerOwner,
  triesInVain,
} from "../derived-addresses.ts";
import { MAX_COMPUTE_UNITS } from "../compute-budget.ts";
import { PROGRAM_ID } from "../programs.ts";

type StepInstruction = readonly [FaultStep, TransactionInstruction];

/** An instruction of a transaction. */
export interface StepOfTransaction {
  readonly step: FaultStep;
  readonly instruction: TransactionInstruction;
}

/** An instruction, and where in the plan it comes from. */
export interface PlannedInstruction extends StepOfTransaction {
  /** Index into the plan's moves. */
  readonly move: number;
}

// The shortest instruction takes 17 of the 1,232 bytes. Nothing is derived for more: the token accounts of hundreds of
// recipients hold up everything else in this process for a tenth of a second.
const MAX_MOVES = 72;

/**
 * The instructions of all moves. Throws `RangeError` for an amount outside 1 … 2^64 − 1, for a seed or a length that no
 * marker can have, and for more moves than any transaction holds.
 */
export function planInstructions(moves: readonly Move[]): PlannedInstruction[] {
  if (moves.length > MAX_MOVES) {
    throw new RangeError(`a plan of ${moves.length} moves does not fit in one transaction`);
  }
  return moves.flatMap((each, move) =>
    instructionsOf(each).map(([step, instruction]) => ({ move, step, instruction })),
  );
}

function instructionsOf(move: Move): readonly StepInstruction[] {
  switch (move.does) {
    case "buy":
      return buy(move);
    case "empty":
      return [["empty", empty(move)]];
    case "transfer":
      return move.mint === null ? [["pay", transferSol(move)]] : transferTokens(move, move.mint);
    case "open":
      return [["create", open(move)]];
    case "close":
      return [["close", close(move)]];
  }
}

function transferSol({
  from,
  to,
  amount,
  accountPayer,
  fromAccount,
  reference,
}: MoveOf<"transfer">): TransactionInstruction {
  if (fromAccount !== undefined) throw new TypeError("SOL is paid from its owner alone");
  if (accountPayer !== null) throw new TypeError("a transfer of SOL creates no token account");
  const pay = SystemProgram.transfer({
    fromPubkey: new PublicKey(from),
    toPubkey: new PublicKey(to),
    lamports: checkedAmount(amount),
  });
  return referringTo(reference, pay);
}

function transferTokens(
  { from, fromAccount, program, to, amount, decimals, accountPayer, reference }: MoveOf<"transfer">,
  mint: Address,
): readonly StepInstruction[] {
  const asset = new PublicKey(mint);
  const owner = new PublicKey(from);
  const source = new PublicKey(fromAccount ?? associatedTokenAccount(from, mint, program));
  const destination = new PublicKey(associatedTokenAccount(to, mint, program));
  const pay = createTransferCheckedInstruction(
    source,
    asset,
    destination,
    owner,
    checkedAmount(amount),
    decimals,
    [],
    programId(program),
  );
  referringTo(reference, pay);
  if (accountPayer === null) return [["pay", pay]];
  return [
    ["create", open({ mint, owner: to, payer: accountPayer }, program)],
    ["pay", pay],
  ];
}

function open(
  { mint, owner, payer }: Pick<MoveOf<"open">, "mint" | "owner" | "payer">,
  program?: TokenProgram,
): TransactionInstruction {
  return createAssociatedTokenAccountIdempotentInstruction(
    new PublicKey(payer),
    new PublicKey(associatedTokenAccount(owner, mint, program)),
    new PublicKey(owner),
    new PublicKey(mint),
    programId(program),
  );
}

function referringTo(reference: string | undefined, pay: TransactionInstruction): TransactionInstruction {
  if (reference !== undefined) {
    pay.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
  }
  return pay;
}

function close({ mint, owner, to, account, program }: MoveOf<"close">): TransactionInstruction {
  const closed = new PublicKey(account ?? associatedTokenAccount(owner, mint, program));
  return createCloseAccountInstruction(
    closed,
    new PublicKey(to),
    new PublicKey(owner),
    [],
    programId(program),
  );
}

function programId(program: TokenProgram = "token"): PublicKey {
  return new PublicKey(PROGRAM_ID[program]);
}

/** Both libraries silently encode an amount that does not fit as a different amount: 2^64 becomes 0, -1 becomes 1. */
function checkedAmount(amount: bigint): bigint {
  if (amount >= 1n && amount <= MAX_AMOUNT) return amount;
  throw new RangeError(`an amount must be 1 to 2^64 - 1, got ${amount}`);
}

/** AllocateWithSeed fails where the account has an owner, whatever its length; lamports that lie there already do no harm. */
function buy({ base, seed, length, payer, lamports }: MoveOf<"buy">): readonly StepInstruction[] {
  const marker = new PublicKey(markerOf(base, seed));
  const allocate = SystemProgram.allocate({
    accountPubkey: marker,
    basePubkey: new PublicKey(base),
    seed,
    space: checkedLength(length),
    programId: new PublicKey(markerOwner(base)),
  });
  const fund = SystemProgram.transfer({
    fromPubkey: new PublicKey(payer),
    toPubkey: marker,
    // An account without lamports is gone when its transaction ends, and its lock with it.
    lamports: checkedAmount(lamports),
  });
  return [
    ["allocate", allocate],
    ["fund", fund],
  ];
}

function checkedLength(length: number): number {
  if (Number.isInteger(length) && length >= 0 && length <= LONGEST_MARKER) return length;
  throw new RangeError(`the length of a marker must be 0 to ${LONGEST_MARKER}, got ${length}`);
}

/** CreateAccount refuses an address that holds lamports; of 0 lamports it changes nothing. */
function empty({ address, payer }: MoveOf<"empty">): TransactionInstruction {
  return SystemProgram.createAccount({
    fromPubkey: new PublicKey(payer),
    newAccountPubkey: new PublicKey(address),
    lamports: 0,
    space: 0,
    programId: SystemProgram.programId,
  });
}

// Compute units per instruction, generously: the runtime's own programs take 150. For the token programs the dearer version
// counts, the first one (transfer 6,200, close 3,000, create 21,000 with its calls); since p-token they take 105, 118 and
// 13,500.
const UNITS: Readonly<Record<StepOfTransaction["step"], number>> = {
  allocate: 500,
  fund: 500,
  create: 30_000,
  pay: 10_000,
  close: 5_000,
  empty: 500,
};
const BUDGET_UNITS = 500;

// Where an associated account lies is found by trying bump seeds from 255 down, in the program as here; each further try
// costs it 1,500 units (measured). A recipient who ground an address with a low bump would otherwise fail everybody's
// transaction.
const UNITS_PER_BUMP = 1_500;

export function computeLimit(planned: readonly StepOfTransaction[]): number {
  const units = planned.reduce((sum, each) => sum + UNITS[each.step] + searchUnits(each), BUDGET_UNITS);
  return Math.min(units, MAX_COMPUTE_UNITS);
}

function searchUnits({ step, instruction }: StepOfTransaction): number {
  if (step !== "create") return 0;
  const [, , owner = "", mint = "", , tokenProgram = ""] = instruction.keys.map(({ pubkey }) =>
    pubkey.toBase58(),
  );
  return UNITS_PER_BUMP * triesInVain(owner, mint, tokenProgram);
}
