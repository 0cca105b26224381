/** Tells why a transaction of an order fails, by a run beforehand or by its landed error, in terms of its plan. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { FaultError, OrderFault } from "../../ledger/order-fault.ts";
import type { TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import { follows } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import { markerOf } from "../marker-address.ts";
import { simulate } from "../simulation.ts";
import { ANY_TERMS, BUDGET_INSTRUCTIONS, compilePlan } from "./build-transaction.ts";
import { planInstructions } from "./plan-instructions.ts";

/** See `RoutingLedger.tryOrder`. */
export async function tryOrder(
  nodes: NodeContext,
  plan: TransactionPlan,
  { message, signers, blockhash }: UnsignedTransaction,
): Promise<Evidence<OrderFault> | null> {
  const blank = signers.map(() => null);
  const failure = await simulate(nodes, { bytes: joinTransaction(message, blank), blockhash }, false);
  return failure && follows(failure, ({ err }) => faultIn(plan, err, JSON.stringify(err)));
}

/** See `RoutingLedger.explainOrder`. Asks no node, and never throws, for no text. */
export function explainOrder(plan: TransactionPlan, error: Evidence<string>): Evidence<OrderFault> {
  return follows([error], ([text]) => faultIn(plan, parsed(text), text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Explained = Omit<OrderFault, "text">;

function faultIn(plan: TransactionPlan, err: unknown, text: string): OrderFault {
  return { ...(wholeFault(plan, err) ?? rentFault(plan, err) ?? stepFault(plan, err)), text };
}

/** Errors of a transaction as a whole. An account without lamports does not exist, and so cannot pay the fee. */
const WHOLE: Readonly<Record<string, FaultError>> = {
  BlockhashNotFound: "blockhash",
  AlreadyProcessed: "already_processed",
  AccountNotFound: "fee",
  InsufficientFundsForFee: "fee",
  InvalidAccountForFee: "fee",
};

function wholeFault({ feePayer }: TransactionPlan, err: unknown): Explained | null {
  const error = typeof err === "string" ? WHOLE[err] : undefined;
  if (error === undefined) return null;
  return { at: null, account: error === "fee" ? feePayer : null, error };
}

/** An account that is left with too little, which the chain names by its place in the message. */
function rentFault(plan: TransactionPlan, err: unknown): Explained | null {
  const index = field(field(err, "InsufficientFundsForRent"), "account_index");
  if (typeof index !== "number") return null;
  const message = compilePlan(plan.feePayer, planInstructions(plan.moves), ANY_TERMS);
  const account = (message.staticAccountKeys[index]?.toBase58() ?? null) as Address | null;
  if (account === null) return { at: null, account, error: "other" };
  const move = plan.moves.findIndex(
    (each) => each.does === "buy" && markerOf(each.base, each.seed) === account,
  );
  return { at: move < 0 ? null : { move, step: "fund" }, account, error: "rent" };
}

// The runtime's names for an account that is not there or is something else; they differ between program versions.
const NO_SUCH_ACCOUNT: ReadonlySet<unknown> = new Set([
  "InvalidAccountData",
  "UninitializedAccount",
  "InvalidAccountOwner",
  "IncorrectProgramId",
  "IllegalOwner",
]);

function stepFault(plan: TransactionPlan, err: unknown): Explained {
  const failure = field(err, "InstructionError");
  const index = Number(field(failure, "0"));
  const failed = planInstructions(plan.moves)[index - BUDGET_INSTRUCTIONS];
  const error = errorOf(field(failure, "1"));
  return failed === undefined
    ? { at: null, account: null, error: "other" }
    : { at: { move: failed.move, step: failed.step }, account: null, error };
}

function errorOf(cause: unknown): FaultError {
  const custom = field(cause, "Custom");
  if (typeof custom === "number") return { custom };
  if (cause === "ReadonlyLamportChange") return "readonly_lamports";
  return NO_SUCH_ACCOUNT.has(cause) ? "missing_account" : "other";
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
