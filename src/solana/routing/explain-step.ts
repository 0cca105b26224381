/** Explains the error of one instruction: programs share error numbers, so the instruction gives the meaning. */
import type { Address } from "../../address.ts";
import type { MoveOf, TransactionPlan } from "../../ledger/routing.ts";
import type { PlannedInstruction } from "./planned-instruction.ts";
import type { UnclearFault, MoveFault } from "./verdict.ts";

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
export function explainStep(
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
