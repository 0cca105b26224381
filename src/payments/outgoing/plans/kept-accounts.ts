/**
 * The accounts of a deposit address that the rules of markers keep. Closing a marker gives old bytes their life back, so
 * every plan is held against this list before the deposit key signs it, whoever ordered it: a plan that closes or empties
 * such an account is not signed. Markers are closed by the sweep alone, once the rules of closing allow it.
 */
import { SOL_MINT, type Address } from "../../../address.ts";
import type { Move, RoutingLedger, TransactionPlan } from "../../../ledger/routing.ts";
import type { DepositRecord } from "../../tables/deposits.ts";
import type { PaymentRecord } from "../../tables/payments.ts";
import type { DepositKeys } from "../../secrets/deposit-keys.ts";
import { readPlan, type StoredPlan } from "./stored-plan.ts";
import { ORDER_WORDS } from "./words.ts";

interface MarkerAddresses {
  readonly ledger: Pick<RoutingLedger, "markerAddress" | "tokenAccountOf">;
  readonly keys: Pick<DepositKeys, "seed">;
}

/** A deposit address, and all payments that the database has of it. */
interface PaidAddress {
  readonly deposit: DepositRecord;
  readonly payments: readonly Pick<PaymentRecord, "plan">[];
}

/** A token account of the address beside the associated one, and the mint that is told of it. */
interface AccountBeside {
  readonly account: Address;
  readonly mint: Address;
}

export class KeptAccountList {
  readonly #markers: ReadonlySet<Address>;
  readonly #associated: Address;

  constructor({ ledger, keys }: MarkerAddresses, { deposit, payments }: PaidAddress) {
    const words = new Set([ORDER_WORDS, ...payments.flatMap(({ plan }) => wordsNamedIn(readPlan(plan)))]);
    this.#markers = new Set(
      [...words].map((each) => ledger.markerAddress(deposit.id, keys.seed(deposit, each))),
    );
    this.#associated = ledger.tokenAccountOf(deposit.id, SOL_MINT);
  }

  /**
   * Whether the account is a marker or may be one. A marker is an account of wrapped SOL beside the associated one. Whether
   * its address was derived by a seed cannot be seen, so each such account counts as a marker, also where no payment here
   * explains it: another copy of the database may have made it.
   */
  keeps({ account, mint }: AccountBeside): boolean {
    return this.#markers.has(account) || (mint === SOL_MINT && account !== this.#associated);
  }

  /** The first kept account that the plan would close or empty; null where it takes nothing from any. */
  takenBy({ moves }: TransactionPlan): Address | null {
    const taken = moves.find((move) => this.#takes(move, moves));
    return taken === undefined ? null : (accountBeside(taken)?.account ?? null);
  }

  #takes(move: Move, moves: readonly Move[]): boolean {
    const beside = accountBeside(move);
    if (beside === null) return false;
    // The chain compares the mint at a transfer and not at a close: only together with a transfer is the mint true.
    const isMintProved = moves.some(
      (each) => each.does === "transfer" && each.fromAccount === beside.account && each.mint === beside.mint,
    );
    return !isMintProved || this.keeps(beside);
  }
}

export function wordsIn({ moves }: Pick<StoredPlan, "moves">): readonly string[] {
  return moves.flatMap((move) => {
    if (move.does === "mark") return [move.words];
    return move.does === "replace" ? [move.words, move.planWords] : [];
  });
}

/** The payments that a plan names may have been made by another copy of the database. */
function wordsNamedIn(plan: StoredPlan): readonly string[] {
  return [...wordsIn(plan), ...(plan.leaves ?? []).map(({ words }) => words)];
}

/** Null where a move takes nothing from an account beside the associated one. */
function accountBeside(move: Move): AccountBeside | null {
  if (move.does === "close" && move.account !== undefined) {
    return { account: move.account, mint: move.mint };
  }
  if (move.does === "transfer" && move.fromAccount !== undefined && move.mint !== null) {
    return { account: move.fromAccount, mint: move.mint };
  }
  return null;
}
