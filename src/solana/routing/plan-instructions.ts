/** Turns the moves of a plan into instructions of the chain's programs, in the same order. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createTransferCheckedInstruction,
  createApproveInstruction,
  createInitializeAccount3Instruction,
  createRevokeInstruction,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { MAX_AMOUNT } from "../../amount.ts";
import { type Move, type MoveOf, type TokenProgram, TOKEN_ACCOUNT_BYTES } from "../../ledger/routing.ts";
import { associatedTokenAccount, markerAddress } from "../associated-token-account.ts";
import { PROGRAM_ID, TOKEN_PROGRAM } from "../programs.ts";
import { SOL_MINT, type Address } from "../../address.ts";

/**
 * The part of an instruction in its move. A marker is made by `allocate`, `fund` and `open` in this order; `replace`
 * does so twice, with `approve` between. A `transfer` of tokens is `create`, where it names a payer for the account,
 * before `pay`.
 */
export type Step =
  "allocate" | "fund" | "open" | "approve" | "revoke" | "unmark" | "create" | "pay" | "close";

type StepInstruction = readonly [Step, TransactionInstruction];

/** An instruction of a transaction, a tip's included. */
export interface StepOfTransaction {
  readonly step: Step;
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
 * The instructions of all moves. `markRent` is what a marker is made with. Throws `RangeError` for an amount outside
 * 1 … 2^64 − 1, for a seed that no marker can have, for a replacement by itself, and for more moves than any transaction holds.
 */
export function planInstructions(moves: readonly Move[], markRent: bigint): PlannedInstruction[] {
  if (moves.length > MAX_MOVES) {
    throw new RangeError(`a plan of ${moves.length} moves does not fit in one transaction`);
  }
  return moves.flatMap((each, move) =>
    instructionsOf(each, markRent).map(([step, instruction]) => ({ move, step, instruction })),
  );
}

function instructionsOf(move: Move, markRent: bigint): readonly StepInstruction[] {
  switch (move.does) {
    case "mark":
      return mark(move, markRent);
    case "replace":
      return replace(move, markRent);
    case "follow":
      return follow(move);
    case "unmark":
      return unmark(move);
    case "transfer":
      return move.mint === null ? [["pay", transferSol(move)]] : transferTokens(move, move.mint);
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
  mint: string,
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
  const create = createAssociatedTokenAccountIdempotentInstruction(
    new PublicKey(accountPayer),
    destination,
    new PublicKey(to),
    asset,
    programId(program),
  );
  return [
    ["create", create],
    ["pay", pay],
  ];
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

// The smallest allowance there is. No key can sign for the delegate's address, so nothing is ever moved by it.
const ALLOWANCE = 1;

/** Instructions that make a marker, at the cost of `rent` lamports. */
function mark({ base, seed, payer }: MoveOf<"mark">, rent: bigint): readonly StepInstruction[] {
  const owner = new PublicKey(base);
  const marker = keyOf(base, seed);
  const tokenProgram = new PublicKey(TOKEN_PROGRAM);
  return [
    // Unlike CreateAccountWithSeed it works where lamports are there already: a stranger can send some.
    [
      "allocate",
      SystemProgram.allocate({
        accountPubkey: marker,
        basePubkey: owner,
        seed,
        space: TOKEN_ACCOUNT_BYTES,
        programId: tokenProgram,
      }),
    ],
    ["fund", SystemProgram.transfer({ fromPubkey: new PublicKey(payer), toPubkey: marker, lamports: rent })],
    // Wrapped SOL has no issuer who could freeze it.
    ["open", createInitializeAccount3Instruction(marker, new PublicKey(SOL_MINT), owner, tokenProgram)],
  ];
}

/** Both markers at the cost of `rent` lamports each, the first one naming the second. Throws `RangeError` for equal seeds. */
function replace({ base, seed, plan, payer }: MoveOf<"replace">, rent: bigint): readonly StepInstruction[] {
  if (seed === plan) throw new RangeError("a plan needs another seed than what it replaces");
  const replaced = keyOf(base, seed);
  const approve = createApproveInstruction(replaced, keyOf(base, plan), new PublicKey(base), ALLOWANCE);
  return [
    ...mark({ does: "mark", base, seed, payer }, rent),
    ["approve", approve],
    ...mark({ does: "mark", base, seed: plan, payer }, rent),
  ];
}

/** Takes away a delegate that no plan's marker has: it fails where there is no such marker, and changes nothing else. */
function follow({ base, plan }: MoveOf<"follow">): readonly StepInstruction[] {
  return [["revoke", createRevokeInstruction(keyOf(base, plan), new PublicKey(base))]];
}

/** Instructions that close a marker: all its lamports go to `to`, including lamports sent by strangers. */
function unmark({ base, seed, to }: MoveOf<"unmark">): readonly StepInstruction[] {
  const closing = createCloseAccountInstruction(keyOf(base, seed), new PublicKey(to), new PublicKey(base));
  return [["unmark", closing]];
}

function keyOf(base: Address, seed: string): PublicKey {
  return new PublicKey(markerAddress(base, seed));
}
