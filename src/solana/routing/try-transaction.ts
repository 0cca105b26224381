/** Simulates a plan's transaction: what would fail on the chain fails here, without a fee. */
import type { Evidence } from "../../ledger/belief.ts";
import type { TransactionFault, TransactionPlan, UnsignedTransaction, Move } from "../../ledger/routing.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import { follows, agree } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import { simulate } from "../simulation.ts";
import { explain, type UnclearFault, type MoveFault } from "./explain-error.ts";
import type { Account as AccountTold } from "../rpc/account.ts";
import type { Address } from "../../address.ts";
import { readAccounts } from "../read-accounts.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import { ACCOUNT_HEAD, isTokenProgram } from "../programs.ts";
import { readTokenAccount } from "../token-accounts.ts";

/** See `RoutingLedger.tryTransaction`. */
export async function tryTransaction(
  nodes: NodeContext,
  plan: TransactionPlan,
  { message, signers, blockhash }: UnsignedTransaction,
): Promise<Evidence<TransactionFault> | null> {
  const blank = signers.map(() => null);
  const failure = await simulate(nodes, { bytes: joinTransaction(message, blank), blockhash }, false);
  if (failure === null) return null;
  const { err } = failure;
  const explained = explain(plan, err);
  const verdict = "doubt" in explained ? await settleDoubt(nodes, plan, explained) : explained;
  return follows(failure, () => ({ ...verdict, error: JSON.stringify(err) }));
}

type Account = AccountTold | null;
type Transfer = Extract<Move, { does: "transfer" }>;

/** Judged at confirmed, as the simulation was. When the accounts do not show a reason any more, `other`. */
async function settleDoubt(
  nodes: NodeContext,
  plan: TransactionPlan,
  doubt: UnclearFault,
): Promise<Evidence<MoveFault>> {
  return doubt.doubt === "which_end"
    ? await whichEnd(nodes, plan, doubt.move)
    : await whichPayee(nodes, plan, doubt.moves);
}

/** The paying end first: where both are unfit, no other recipient can be paid either. */
async function whichEnd(
  nodes: NodeContext,
  plan: TransactionPlan,
  move: number,
): Promise<Evidence<MoveFault>> {
  const transfer = tokenTransfer(plan, move);
  const read = readAccounts(
    [transfer.fromAccount ?? accountOf(transfer, transfer.from), accountOf(transfer, transfer.to)],
    "confirmed",
    ACCOUNT_HEAD,
  );
  const kind = await agree(nodes, {
    subject: "the accounts of a transfer",
    question: async (endpoint) => {
      const [source = null, destination = null] = await read(endpoint);
      if (!isUsable(source, transfer.from)) return "source";
      return isUsable(destination, transfer.to) ? "other" : "payee";
    },
    textOf: String,
  });
  return follows(kind, () => ({ kind, move }));
}

/** The first whose account has to be created; null when by now all of them exist. */
async function whichPayee(
  nodes: NodeContext,
  plan: TransactionPlan,
  moves: readonly number[],
): Promise<Evidence<MoveFault>> {
  const transfers = moves.map((move) => tokenTransfer(plan, move));
  const read = readAccounts(
    transfers.map((transfer) => accountOf(transfer, transfer.to)),
    "confirmed",
    ACCOUNT_HEAD,
  );
  const missing = await agree(nodes, {
    subject: "the token accounts of payees",
    question: async (endpoint) => (await read(endpoint)).findIndex((account) => !isTokenAccount(account)),
    textOf: String,
  });
  return follows(missing, () => ({ kind: "payee", move: moves[missing] ?? null }));
}

function tokenTransfer({ moves }: TransactionPlan, index: number): Transfer & { mint: Address } {
  const move = moves[index];
  if (move?.does === "transfer" && move.mint !== null) return { ...move, mint: move.mint };
  throw new TypeError(`move ${index} is no transfer of tokens`);
}

function accountOf({ mint, program }: Transfer & { mint: Address }, owner: Address): Address {
  return associatedTokenAccount(owner, mint, program);
}

function isTokenAccount(account: Account): account is AccountTold {
  return account !== null && isTokenProgram(account.owner);
}

// The state byte of a token account: 0 not initialised, 1 in use, 2 frozen.
const STATE_AT = 108;
const IN_USE = 1;

function isUsable(account: Account, owner: Address): boolean {
  if (!isTokenAccount(account) || account.data[STATE_AT] !== IN_USE) return false;
  return readTokenAccount(account.data)?.owner === owner;
}
