/**
 * Explains an error of the chain in terms of a plan: the failed move, and the account that caused the failure. Asks no
 * node.
 */
import type { TransactionFault, TransactionPlan } from "../../ledger/routing.ts";
import { ANY_TERMS, BUDGET_INSTRUCTIONS, compilePlan } from "./compile-plan.ts";
import { explainStep } from "./explain-step.ts";
import type { UnclearFault, MoveFault } from "./verdict.ts";
import { planInstructions } from "./plan-instructions.ts";

/** See `RoutingLedger.explainError`. Never throws, for no text. */
export function explainError(plan: TransactionPlan, error: string): TransactionFault {
  const explained = explain(plan, parsed(error));
  return { ...("doubt" in explained ? unsettled(explained) : explained), error };
}

/** Explains an error without asking a node. `err` is the chain's transaction error in its JSON form. */
export function explain(plan: TransactionPlan, err: unknown): MoveFault | UnclearFault {
  switch (err) {
    case "BlockhashNotFound":
      return { kind: "blockhash", move: null };
    case "AlreadyProcessed":
      return { kind: "already_processed", move: null };
    // An account without lamports does not exist, and one that does not exist cannot pay the fee.
    case "AccountNotFound":
    case "InsufficientFundsForFee":
    case "InvalidAccountForFee":
      return { kind: "fee_payer", move: null };
    default:
  }
  const planned = planInstructions(plan.moves, 0n);
  const poorIndex = field(field(err, "InsufficientFundsForRent"), "account_index");
  if (typeof poorIndex === "number") {
    const message = compilePlan(plan.feePayer, planned, ANY_TERMS);
    return explainPoorAccount(plan, message.staticAccountKeys[poorIndex]?.toBase58());
  }
  const instructionError = field(err, "InstructionError");
  const index = field(instructionError, "0");
  const failed = typeof index === "number" ? planned[index - BUDGET_INSTRUCTIONS] : undefined;
  if (failed === undefined) return { kind: "other", move: null };
  const cause = field(instructionError, "1");
  return explainStep(plan, failed, field(cause, "Custom") ?? cause);
}

/** The verdict during a doubt: neither of two parties is blamed, but a blamed payee stays blamed. */
function unsettled(doubt: UnclearFault): MoveFault {
  return doubt.doubt === "which_end" ? { kind: "other", move: doubt.move } : { kind: "payee", move: null };
}

function parsed(error: string): unknown {
  try {
    return JSON.parse(error);
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** `address` is the account that the chain named, undefined when it is none of the plan's. */
function explainPoorAccount(
  { feePayer, moves }: TransactionPlan,
  address: string | undefined,
): MoveFault | UnclearFault {
  if (address === feePayer) return { kind: "fee_payer", move: null };
  // A payer pays for a token account only where its owner closed it after it was priced.
  const charged = indices(
    moves,
    (move) => move.does === "transfer" && move.accountPayer === address && move.from === address,
  );
  const [only, another] = charged;
  if (another !== undefined) return { doubt: "which_payee", moves: charged };
  if (only !== undefined) return { kind: "payee", move: only };
  const isSponsor = moves.some(
    (move) =>
      ((move.does === "mark" || move.does === "replace") && move.payer === address) ||
      (move.does === "transfer" && move.accountPayer === address),
  );
  if (isSponsor) return { kind: "fee_payer", move: null };
  // Spending comes before receiving: an address that is lent its rent minimum does both.
  const spending = indices(moves, (move) => {
    return move.does === "transfer" && move.mint === null && move.from === address;
  }).at(-1);
  if (spending !== undefined) return { kind: "source", move: spending };
  const [receiving] = indices(moves, (move) => {
    if (move.does === "transfer") return move.to === address && move.mint === null;
    return (move.does === "unmark" || move.does === "close") && move.to === address;
  });
  return receiving === undefined ? { kind: "other", move: null } : { kind: "payee", move: receiving };
}

function indices<T>(items: readonly T[], holds: (item: T) => boolean): number[] {
  return items.flatMap((item, index) => (holds(item) ? [index] : []));
}
