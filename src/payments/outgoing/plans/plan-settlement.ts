/** Plans the next step for the money at an address whose order is over: refund, wait, sweep, or nothing. */
import type { Movement } from "../../../../machines/private-messages.ts";
import type { PaymentRecord } from "../../tables/payments.ts";
import type { Address } from "../../../address.ts";
import { ledgerMint, smallestAmount, type Token } from "../../assets/assets.ts";
import type { OpenMarker } from "./order-markers.ts";
import { replacementPlan } from "./plan-payouts.ts";
import { followOf, loanOf, markOf, replaceOf, transfer, type RoutingContext } from "./routing-terms.ts";
import type { StoredMove, StoredPlan } from "./stored-plan.ts";
import { excessWords, refundWords } from "./words.ts";

/** One asset at the address. */
export interface Holding {
  readonly asset: Token;
  readonly balance: bigint;
  /** Part of the balance that stays for the sweep: the order's fee and what refunds have held back. */
  readonly kept: bigint;
  /** Part of the balance that the sponsor has lent: lamports only. */
  readonly lent: bigint;
  /**
   * The part of the rest that may go to an address other than the sender's, by an operator's word, the refund's cost
   * included. Absent when the rest goes to the sender.
   */
  readonly elsewhere?: bigint;
  /** The cost of a refund of this asset for its receiver, and whether the cost includes an account. */
  readonly refundCost: bigint;
  readonly isAccountPriced: boolean;
  /** Whether the address has a token account for it, empty or not. */
  readonly hasAccount: boolean;
}

/** A payment to recipients that may still be made. */
export interface OpenPayment extends OpenMarker {
  /** The amount that the payment would pay, in base units of the order's asset. */
  readonly amount: bigint;
  /** Whether the marker exists already: if so, the payment was made, and the database has not concluded it yet. */
  readonly isMade: boolean;
}

/** The facts that the decision depends on. */
export interface Settlement {
  readonly terms: RoutingContext;
  readonly receiver: Address;
  /** The operator's word that names the receiver; left out where it is the sender. */
  readonly word?: string;
  readonly treasury: Address;
  readonly holdings: readonly Holding[];
  readonly open: readonly OpenPayment[];
  /** The asset that recipients are paid in, by its mint. */
  readonly paidIn: string;
  /** The words of the markers that stand. */
  readonly markers: readonly string[];
  /** Refunds of excess that were made, and payments of the address's own that were planned so far. */
  readonly excesses: number;
  readonly planned: number;
  readonly mayRefund: boolean;
  /** Whether bytes that the markers refuse can land no more. */
  readonly mayClose: boolean;
}

export type SettlementStep =
  | {
      readonly do: "recover" | "refund" | "sweep";
      readonly kind: PaymentRecord["kind"];
      readonly mark: string;
      readonly asset: Token;
      readonly to: Address;
      readonly amount: bigint;
      readonly plan: StoredPlan;
    }
  | { readonly do: "wait" }
  /** More is there than an operator has let go to another address: somebody has to decide about it. */
  | { readonly do: "decide" }
  | { readonly do: "rest" };

/** The amount of a refund, and its first moves, which keep any other payment from landing in the refund's place. */
interface RefundTerms {
  readonly mark: string;
  readonly amount: bigint;
  readonly before: readonly StoredMove[];
}

/** Measured: so many markers fit in a transaction of 1,232 bytes, and with all three assets to be emptied besides. */
const MARKERS_PER_SWEEP = 23;
const MARKERS_OF_LAST_SWEEP = 8;

export function sweepsFor(markers: number): number {
  return 1 + Math.ceil(Math.max(0, markers - MARKERS_OF_LAST_SWEEP) / MARKERS_PER_SWEEP);
}

/** Pure: the same facts always give the same step. */
export function nextSettlementStep(facts: Settlement): SettlementStep {
  const made = facts.open.find(({ isMade }) => isMade);
  if (made !== undefined) return recover(facts, made);
  const refundable = facts.holdings.find((holding) => payable(holding) > holding.refundCost);
  if (refundable !== undefined) return facts.mayRefund ? refund(facts, refundable) : { do: "wait" };
  if (facts.holdings.some(isUndecided)) return { do: "decide" };
  // Without a marker nothing of ours has ever landed here: what is left is dust that is not worth a transaction, and a
  // sweep without a marker to take away could land twice.
  return facts.markers.length === 0 || !facts.mayClose ? { do: "rest" } : sweep(facts);
}

function restOf({ balance, kept, lent }: Holding): bigint {
  return balance - kept - lent;
}

function payable(holding: Holding): bigint {
  return holding.elsewhere ?? restOf(holding);
}

/** Dust is nobody's decision. */
function isUndecided(holding: Holding): boolean {
  const more = restOf(holding) - payable(holding);
  return more > holding.refundCost && more >= smallestAmount(holding.asset);
}

/**
 * The plan of nothing: it cannot land where the marker stands, and meeting the marker tells what was paid under it. Should
 * it land, nothing else is paid under these words.
 */
function recover(
  { terms, holdings, planned, receiver }: Settlement,
  { words, follows }: OpenPayment,
): SettlementStep {
  const plan = replacementPlan(terms, { words, follows }, { leaves: [], leftOut: [] });
  const [first] = holdings;
  if (first === undefined) throw new Error("an address has at least its lamports");
  const mark = `${RECOVERY}${planned + 1}: ${words}`;
  return { do: "recover", kind: "plan", mark, asset: first.asset, to: receiver, amount: 0n, plan };
}

const RECOVERY = "recovery ";

/** Whether a payment is a recovery: an empty plan that only asks what was paid under its words. */
export function isRecovery({ mark }: Pick<PaymentRecord, "mark">): boolean {
  return mark.startsWith(RECOVERY);
}

/** The receiver gets everything but the refund's own cost, which stays for the sweep. */
function refund(facts: Settlement, holding: Holding): SettlementStep {
  const { terms, receiver, word } = facts;
  const { asset, refundCost } = holding;
  const { mark, amount, before } = termsOfRefund(facts, holding);
  const loans = loanOf(terms, asset);
  // Whoever closes the account after it was looked at has not paid for another one: that refund fails and is planned again.
  const accountPayer = holding.isAccountPriced ? terms.sponsor : terms.address;
  const leg = { from: terms.address, to: receiver, amount, accountPayer };
  return {
    do: "refund",
    kind: "refund",
    mark,
    asset,
    to: receiver,
    amount,
    plan: {
      feePayer: terms.sponsor,
      moves: [...before, ...loans, transfer(asset, leg)],
      movements: [
        ...loans.map(() => movement("loan", asset, terms.rentMinimum)),
        movement("refund", asset, amount),
      ],
      indexes: [],
      withheld: String(refundCost),
      ...(word === undefined ? {} : { word }),
    },
  };
}

/**
 * Refunds replace open payments to recipients one at a time, each with its own amount, and the last with the whole
 * rest. Later money is excess.
 */
function termsOfRefund(
  { terms, receiver, open, paidIn, excesses, planned }: Settlement,
  holding: Holding,
): RefundTerms {
  const { asset, refundCost } = holding;
  const all = payable(holding) - refundCost;
  const [first] = open;
  const label = (words: string): string => `refund ${planned + 1}: ${words}`;
  if (first === undefined) {
    const words = excessWords(excesses + 1);
    return { mark: label(words), amount: all, before: [markOf(terms, words)] };
  }
  const ownPart = first.amount - refundCost;
  const isPart = open.length > 1 && asset.mint === paidIn && ownPart > 0n && ownPart < all;
  const amount = isPart ? ownPart : all;
  const words = refundWords(first.words, { mint: asset.mint, amount, to: receiver });
  const before = [...followOf(terms, first.follows), replaceOf(terms, first.words, words)];
  return { mark: label(words), amount, before };
}

/**
 * Markers are handed back first, since a transaction that takes one away can land only once. With the last of them the
 * address is emptied to exactly nothing: fee and dust to the treasury, loans and the rent of its accounts to the sponsor.
 */
function sweep({ terms, treasury, holdings, markers, planned }: Settlement): SettlementStep {
  const isLast = markers.length <= MARKERS_OF_LAST_SWEEP;
  // The last sweep needs a marker, too.
  const taken = markers.slice(0, isLast ? markers.length : Math.min(MARKERS_PER_SWEEP, markers.length - 1));
  const moves: StoredMove[] = taken.map((words) => ({
    does: "unmark",
    base: terms.address,
    words,
    to: terms.sponsor,
  }));
  const movements: Movement[] = [];
  if (isLast) {
    for (const holding of holdings) {
      const { asset, balance, kept, lent, hasAccount } = holding;
      const repaid = balance < lent ? balance : lent;
      const rest = balance - repaid;
      const from = terms.address;
      if (rest > 0n) {
        moves.push(transfer(asset, { from, to: treasury, amount: rest, accountPayer: terms.sponsor }));
        const fee = rest < kept ? rest : kept;
        if (fee > 0n) movements.push(movement("fee", asset, fee));
        if (rest > fee) movements.push(movement("dust", asset, rest - fee));
      }
      if (repaid > 0n) {
        moves.push(transfer(asset, { from, to: terms.sponsor, amount: repaid, accountPayer: null }));
        movements.push(movement("repayment", asset, repaid));
      }
      const mint = ledgerMint(asset);
      if (mint !== null && hasAccount) moves.push({ does: "close", mint, owner: from, to: terms.sponsor });
    }
  }
  const [first] = holdings;
  if (first === undefined) throw new Error("an address has at least its lamports");
  return {
    do: "sweep",
    kind: "sweep",
    mark: `sweep ${planned + 1}`,
    asset: first.asset,
    to: treasury,
    amount: 0n,
    plan: { feePayer: terms.sponsor, moves, movements, indexes: [], withheld: "0" },
  };
}

function movement(kind: Movement["kind"], { mint }: Token, amount: bigint): Movement {
  return { kind, mint, amount: String(amount) };
}
