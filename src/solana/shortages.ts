/** Reads how much a payer has and needs, when a simulation failed because something runs short. */
import type { Address } from "../core/address.ts";
import type { Hint } from "../ledger/belief.ts";
import type { DeclaredPayment, SimulationFault } from "../ledger/ledger.ts";
import { agree } from "./agree.ts";
import { ask, type NodeContext } from "./ask.ts";
import { feeOf, rentForTokenAccounts, rentMinimum } from "./payment-cost.ts";
import type { ReadableMessage } from "./message-v1.ts";
import type { DecodedInstruction } from "./read-instruction.ts";
import { readAccounts } from "./read-accounts.ts";
import { ACCOUNT_HEAD, isTokenProgram } from "./programs.ts";
import { readTokenAccount } from "./token-accounts.ts";

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
export async function lamportShortage(
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
export async function tokenShortage(
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
export async function missingTokenAccount(
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
