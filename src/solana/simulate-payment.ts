/** Simulates a verified payment, and explains to its payer why it would fail. */
import type { Evidence, Hint } from "../ledger/belief.ts";
import {
  LedgerUnavailable,
  type DeclaredPayment,
  type SimulationFault,
  type VerifiedPayment,
} from "../ledger/ledger.ts";
import { type NodeContext, ask } from "./ask.ts";
import { decodeTransaction } from "./decode-transaction.ts";
import { readChainError, simulate, type Simulation } from "./simulation.ts";
import { readInstruction, type DecodedInstruction } from "./read-instruction.ts";
import { askAnew } from "./answer-cache.ts";
import { resolveInstructions } from "./resolve-instructions.ts";
import { follows, agree } from "./agree.ts";
import { rentMinimum, feeOf, rentForTokenAccounts } from "./payment-cost.ts";
import type { Address } from "../core/address.ts";
import type { ReadableMessage } from "./message-v1.ts";
import { readAccounts } from "./accounts.ts";
import { ACCOUNT_HEAD, isTokenProgram } from "./programs.ts";
import { readTokenAccount } from "./token-accounts.ts";

/** Simulates with the signatures checked. The bytes are taken apart again only to explain a failure. */
export async function simulatePayment(
  nodes: NodeContext,
  verified: VerifiedPayment,
  payment: DeclaredPayment,
): Promise<Evidence<SimulationFault> | null> {
  const failure = await simulate(nodes, verified, true);
  if (failure === null) return null;
  const decoding = decodeTransaction(Buffer.from(verified.bytes).toString("base64"));
  if ("refused" in decoding) throw new TypeError("only verified bytes can be simulated");
  const { decoded } = decoding;
  const instructions = await resolveInstructions(nodes, decoded);
  if (instructions === null) {
    throw new LedgerUnavailable("a lookup table that was found before is not found now");
  }
  const meanings = instructions.map(readInstruction);
  // A price that rose may be the very reason.
  const asking = { ...nodes, remembered: askAnew };
  const fault = await faultOf(asking, failure, { payment, message: decoded.message, meanings });
  return follows(failure, () => fault);
}

// Both the System and the Token program number "insufficient funds" 1, so the failed instruction decides whose it is.
const CUSTOM_INSUFFICIENT_FUNDS = 1;
const CUSTOM_ACCOUNT_FROZEN = 0x11;
// The fee payer is the first account of every message.
const FEE_PAYER_INDEX = 0;
// The end of the log names the failure; the rest is noise of successful instructions.
const LOG_LINES = 20;

async function faultOf(
  nodes: NodeContext,
  { err, logs }: Evidence<Simulation>,
  read: ReadPayment,
): Promise<SimulationFault> {
  const fault = await explain(nodes, err, read);
  return typeof fault === "string"
    ? { kind: "would_fail", reason: fault, logs: logs.slice(-LOG_LINES) }
    : fault;
}

/** Why it would fail; a word where there is no more to say. */
type Explained = Exclude<SimulationFault, WouldFail> | WouldFail["reason"];
type WouldFail = Extract<SimulationFault, { kind: "would_fail" }>;

async function explain(nodes: NodeContext, err: unknown, read: ReadPayment): Promise<Explained> {
  const failed = readChainError(err);
  const { error } = failed;
  if (failed.of === "account") return await shortOfRent(nodes, failed.index, read);
  if (failed.of === "transaction") {
    if (error === "blockhash") return { kind: "blockhash_expired" };
    if (error === "already_processed") return { kind: "already_processed" };
    // An account that is no wallet can pay no fee, whatever it holds.
    const isPoor = error === "fee" && err !== "InvalidAccountForFee";
    return isPoor ? await lamportShortage(nodes, read, "fee") : "program_error";
  }
  const custom = typeof error === "string" ? null : error.custom;
  return await explainInstruction(nodes, { custom, meaning: read.meanings[failed.index] }, read);
}

async function shortOfRent(nodes: NodeContext, index: number, read: ReadPayment): Promise<Explained> {
  const { payment, message } = read;
  if (index === FEE_PAYER_INDEX) return await lamportShortage(nodes, read, "leftover");
  if (payment.mint !== null) return "program_error";
  const poor = message.staticAccountKeys[index]?.toBase58();
  const transfer = payment.transfers.findIndex(({ recipient }) => recipient === poor);
  const minimum = await rentMinimum(nodes, 0);
  return { kind: "recipient_below_rent", minimum, transfer: transfer < 0 ? null : transfer };
}

interface FailedInstruction {
  /** The number of its program's own error; null for an error of the runtime. */
  readonly custom: number | null;
  readonly meaning: DecodedInstruction | undefined;
}

async function explainInstruction(
  nodes: NodeContext,
  { custom, meaning }: FailedInstruction,
  read: ReadPayment,
): Promise<Explained> {
  const isShort = custom === CUSTOM_INSUFFICIENT_FUNDS;
  switch (meaning?.does) {
    case "transfer_sol":
      return isShort ? await lamportShortage(nodes, read, "fee") : "program_error";
    case "create_token_account":
      return isShort ? await lamportShortage(nodes, read, "rent") : "program_error";
    case "transfer_token": {
      if (custom === CUSTOM_ACCOUNT_FROZEN) return "frozen";
      if (isShort) return await tokenShortage(nodes, read, meaning.source);
      // The program's word for an account that is not there differs between its versions; the chain's does not.
      const missing = await missingTokenAccount(nodes, meaning);
      if (missing === "source") return await tokenShortage(nodes, read, meaning.source);
      const isCreated = read.meanings.some(
        (each) => each.does === "create_token_account" && each.account === meaning.destination,
      );
      return missing === "destination" && !isCreated ? "no_token_account" : "program_error";
    }
    default:
      return "program_error";
  }
}

type Shortage = Extract<SimulationFault, { kind: "insufficient_balance" }>;

export interface ReadPayment {
  readonly payment: DeclaredPayment;
  readonly message: ReadableMessage;
  readonly meanings: readonly DecodedInstruction[];
}

/**
 * The part that the sender's lamports do not cover: the fee, the rent of accounts to be created, or what a wallet must
 * keep.
 */
type Uncovered = "fee" | "rent" | "leftover";

/**
 * Required is counted up to what is not covered: the fee alone; or the fee and the rent of the accounts to be created; or,
 * where the payment itself is in SOL, always the amount too. A sender who would be left with less than an empty account's
 * rent, but more than nothing, lacks that as well.
 */
async function lamportShortage(
  nodes: NodeContext,
  { payment, message, meanings }: ReadPayment,
  uncovered: Uncovered,
): Promise<Shortage> {
  const component = uncovered === "fee" ? "fee" : "rent";
  const isSol = payment.mint === null;
  const moved = meanings.reduce(
    (sum, meaning) => sum + (meaning.does === "transfer_sol" ? meaning.amount : 0n),
    0n,
  );
  const owners = meanings.flatMap((meaning) =>
    meaning.does === "create_token_account" ? [meaning.owner as Address] : [],
  );
  const [fee, available, rent, left] = await Promise.all([
    feeOf(nodes, message),
    lamportsOf(nodes, payment.sender),
    component === "rent" ? rentForTokenAccounts(nodes, payment.mint, [...new Set(owners)]) : 0n,
    uncovered === "leftover" ? rentMinimum(nodes, 0) : 0n,
  ]);
  return {
    kind: "insufficient_balance",
    component: isSol && component === "fee" ? "amount" : component,
    mint: null,
    required: moved + fee + rent + left,
    available,
  };
}

/**
 * Finds a token account of the sender that holds less than the payment takes from it; further accounts of the sender do
 * not count; an absent account holds 0.
 */
async function tokenShortage(
  nodes: NodeContext,
  { payment, meanings }: ReadPayment,
  source: string,
): Promise<Shortage> {
  const read = readAccounts([source], "confirmed", ACCOUNT_HEAD);
  const available = await ask(nodes, async (endpoint) => {
    const [account = null] = await read(endpoint);
    return account === null ? 0n : (readTokenAccount(account.data)?.amount ?? 0n);
  });
  const taken = meanings.map((meaning) =>
    meaning.does === "transfer_token" && meaning.source === source ? meaning.amount : 0n,
  );
  return {
    kind: "insufficient_balance",
    component: "amount",
    mint: payment.mint,
    required: taken.reduce((sum, amount) => sum + amount, 0n),
    available,
  };
}

/**
 * Finds the end of a token transfer that is no token account, at confirmed: the paying account is checked before the
 * paid account.
 */
async function missingTokenAccount(
  nodes: NodeContext,
  { source, destination }: Extract<DecodedInstruction, { does: "transfer_token" }>,
): Promise<"source" | "destination" | null> {
  const read = readAccounts([source, destination], "confirmed", ACCOUNT_HEAD);
  const missing = await agree(nodes, {
    of: "simulatePayment",
    subject: "the token accounts of a transfer",
    question: async (endpoint) => {
      const [hasSource, hasDestination] = (await read(endpoint)).map((account) =>
        isTokenProgram(account?.owner ?? ""),
      );
      if (hasSource !== true) return "source";
      return hasDestination === true ? "none" : "destination";
    },
    textOf: String,
  });
  return missing === "none" ? null : missing;
}

async function lamportsOf(nodes: NodeContext, address: Address): Promise<Hint<bigint>> {
  return await ask(nodes, async ({ rpc }) => BigInt((await rpc.getBalance(address, "confirmed")).value));
}
