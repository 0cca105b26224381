/**
 * Explains an error of the chain in terms of a plan: the failed move, and the account that caused the failure. Asks no
 * node.
 */
import type { TransactionFault, TransactionPlan, MoveOf } from "../../ledger/routing.ts";
import { ANY_TERMS, BUDGET_INSTRUCTIONS, compilePlan } from "./build-transaction.ts";
import { planInstructions, type PlannedInstruction } from "./plan-instructions.ts";
import type { Address } from "../../address.ts";

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
  // Behind moves of ours stands nothing but a tip.
  if (planned.length > 0 && index === planned.length + BUDGET_INSTRUCTIONS) {
    return { kind: "fee_payer", move: null };
  }
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

// System program.
const ACCOUNT_IN_USE = 0;
const TOO_FEW_LAMPORTS = 1;
// What the runtime says of an account with data, or of another program, that is to give lamports.
const GIVES_NOTHING: ReadonlySet<unknown> = new Set(["InvalidArgument", "ExternalAccountLamportSpend"]);
// Associated-token-account program: the token account has another owner. It passes on errors of the System program.
const OTHER_OWNER = 0;
// Token program.
const TOO_FEW_TOKENS = 1;
const OWNER_MISMATCH = 4;
const STILL_HOLDS_TOKENS = 11;
const FROZEN = 0x11;
// The runtime's names for an account that is not there or is something else; they differ between program versions.
const NO_SUCH_ACCOUNT: ReadonlySet<unknown> = new Set([
  "InvalidAccountData",
  "UninitializedAccount",
  "InvalidAccountOwner",
  "IncorrectProgramId",
  "IllegalOwner",
]);

/** `cause` is the number of a custom error, or the runtime's name for it. */
function explainStep(
  { feePayer, moves }: TransactionPlan,
  { move, step }: PlannedInstruction,
  cause: unknown,
): MoveFault | UnclearFault {
  const failed = moves[move];
  const other: MoveFault = { kind: "other", move };
  switch (failed?.does) {
    case undefined:
      return other;
    case "mark":
    case "replace":
      return explainMaking() ?? other;
    case "follow":
      return NO_SUCH_ACCOUNT.has(cause) ? { kind: "unplanned", move } : other;
    case "unmark":
      return NO_SUCH_ACCOUNT.has(cause) ? { kind: "source", move } : other;
    case "close":
      return cause === STILL_HOLDS_TOKENS || NO_SUCH_ACCOUNT.has(cause) ? { kind: "source", move } : other;
    case "transfer":
      if (failed.mint === null) return explainSol(failed.from) ?? other;
      return (step === "create" ? explainCreation(failed) : explainTokens(failed)) ?? other;
  }

  /** Programs number alike: 0 of `allocate` is an account in use, 0 of `open` is one that has too few lamports. */
  function explainMaking(): MoveFault | null {
    if (step === "allocate" && cause === ACCOUNT_IN_USE) return { kind: "marked", move };
    const cannotPay = cause === TOO_FEW_LAMPORTS || GIVES_NOTHING.has(cause);
    return step === "fund" && cannotPay ? { kind: "fee_payer", move } : null;
  }

  function explainSol(from: Address): MoveFault | null {
    if (cause === TOO_FEW_LAMPORTS) return { kind: from === feePayer ? "fee_payer" : "source", move };
    if (GIVES_NOTHING.has(cause)) return { kind: "source", move };
    // No transaction may write to the runtime's own accounts.
    return cause === "ReadonlyLamportChange" ? { kind: "payee", move } : null;
  }

  /** Finds who cannot pay: a payee who closed the account fails alone; a sponsor has to be topped up first. */
  function explainCreation({ from, accountPayer }: Transfer): MoveFault | null {
    if (cause === OTHER_OWNER || NO_SUCH_ACCOUNT.has(cause)) return { kind: "payee", move };
    if (cause !== TOO_FEW_LAMPORTS) return null;
    return { kind: accountPayer === from && from !== feePayer ? "payee" : "fee_payer", move };
  }

  /**
   * The Token program looks at both accounts before it looks at the amount, first whether they are accounts, then whether
   * either is frozen, with one error for both ends.
   */
  function explainTokens(transfer: Transfer): MoveFault | UnclearFault | null {
    if (cause === TOO_FEW_TOKENS || cause === OWNER_MISMATCH) return { kind: "source", move };
    const isMissing = NO_SUCH_ACCOUNT.has(cause);
    if (!isMissing && cause !== FROZEN) return null;
    // The instructions before this one succeeded. An instruction that paid from the same account proves that the source
    // is sound; an instruction that created the recipient's account proves that the account exists.
    const hasPaidBefore = moves
      .slice(0, move)
      .some((each) => each.does === "transfer" && paysFromTheSame(each, transfer));
    if (hasPaidBefore) return { kind: "payee", move };
    if (isMissing && transfer.accountPayer !== null) return { kind: "source", move };
    return { doubt: "which_end", move };
  }
}

type Transfer = MoveOf<"transfer">;

function paysFromTheSame(one: Transfer, other: Transfer): boolean {
  return one.mint === other.mint && one.from === other.from && one.fromAccount === other.fromAccount;
}

/** The reason why a transaction failed, and the failed move. */
export type MoveFault = Omit<TransactionFault, "error">;

/**
 * An open question about an error. `which_end`: the transfer's source account or destination account failed.
 * `which_payee`: an owner paid for token accounts until its own lamports were too few; the accounts of `moves` may be
 * among them.
 */
export type UnclearFault =
  | { readonly doubt: "which_end"; readonly move: number }
  | { readonly doubt: "which_payee"; readonly moves: readonly number[] };
