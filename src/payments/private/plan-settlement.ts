/** What is to happen next with the money at an address whose order is over: refund, wait, sweep, or nothing. */
import type { Movement } from "../../../machines/index.ts";
import type { Address } from "../../address.ts";
import { ledgerMint } from "../assets.ts";
import type { Token } from "../assets.ts";
import { loanOf, markOf, transfer } from "./routing-terms.ts";
import type { RoutingTerms } from "./routing-terms.ts";
import type { StoredMove, StoredPlan } from "./stored-plan.ts";

/** One asset at the address. */
export interface Holding {
  readonly asset: Token;
  readonly balance: bigint;
  /** Part of the balance that stays for the sweep: the order's fee and what refunds have held back. */
  readonly kept: bigint;
  /** Part of the balance that the sponsor has lent: lamports only. */
  readonly lent: bigint;
  /** What a refund of this asset would cost its receiver. */
  readonly refundCost: bigint;
  /** Whether the address has a token account for it, empty or not. */
  readonly hasAccount: boolean;
}

/** A marker that still holds its rent. */
export interface Marker {
  readonly mark: string;
  readonly lamports: bigint;
}

/** All that the decision depends on. */
export interface Settlement {
  readonly terms: RoutingTerms;
  readonly sender: Address;
  readonly treasury: Address;
  readonly holdings: readonly Holding[];
  readonly markers: readonly Marker[];
  /** Refunds and sweeps planned so far, for the words of the next. */
  readonly refunds: number;
  readonly sweeps: number;
  readonly mayRefund: boolean;
}

/** The next step. */
export type SettlementStep =
  | {
      readonly do: "refund" | "sweep";
      readonly mark: string;
      readonly asset: Token;
      readonly to: Address;
      readonly amount: bigint;
      readonly plan: StoredPlan;
    }
  | { readonly do: "wait" }
  | { readonly do: "rest" };

/** Measured: seven markers fill a transaction of 1,232 bytes; with all three assets to be emptied besides, four do. */
const MARKERS_PER_SWEEP = 7;
const MARKERS_OF_LAST_SWEEP = 4;

/** How many sweeps take so many markers away. */
export function sweepsFor(markers: number): number {
  return 1 + Math.ceil(Math.max(0, markers - MARKERS_OF_LAST_SWEEP) / MARKERS_PER_SWEEP);
}

/** Pure: the same facts always give the same step. */
export function nextSettlementStep(facts: Settlement): SettlementStep {
  const refundable = facts.holdings.find(
    (holding) => holding.balance - holding.kept - holding.lent > holding.refundCost,
  );
  if (refundable !== undefined) return facts.mayRefund ? refund(facts, refundable) : { do: "wait" };
  // Without a marker nothing of ours has ever landed here: what is left is dust that is not worth a transaction, and a
  // sweep without a marker to take away could land twice.
  return facts.markers.length === 0 ? { do: "rest" } : sweep(facts);
}

/** The sender gets everything but the refund's own cost, which stays for the sweep. */
function refund({ terms, sender, refunds }: Settlement, holding: Holding): SettlementStep {
  const { asset, balance, kept, lent, refundCost } = holding;
  const amount = balance - kept - lent - refundCost;
  const mark = `refund ${refunds + 1}`;
  const loans = loanOf(terms, asset);
  const leg = { from: terms.address, to: sender, amount, accountPayer: terms.sponsor };
  return {
    do: "refund",
    mark,
    asset,
    to: sender,
    amount,
    plan: {
      feePayer: terms.sponsor,
      moves: [markOf(terms, mark), ...loans, transfer(asset, leg)],
      movements: [
        ...loans.map(() => movement("loan", asset, terms.rentMinimum)),
        movement("refund", asset, amount),
      ],
      indexes: [],
      withheld: String(refundCost),
    },
  };
}

/**
 * Markers are handed back first, since a transaction that takes one away can land only once. With the last of them the
 * address is emptied to exactly nothing: fee and dust to the treasury, loans and the rent of its accounts to the sponsor.
 */
function sweep({ terms, treasury, holdings, markers, sweeps }: Settlement): SettlementStep {
  const isLast = markers.length <= MARKERS_OF_LAST_SWEEP;
  // The last sweep needs a marker, too.
  const taken = markers.slice(0, isLast ? markers.length : Math.min(MARKERS_PER_SWEEP, markers.length - 1));
  const moves: StoredMove[] = taken.map(({ mark, lamports }) => ({
    does: "unmark",
    base: terms.address,
    mark,
    to: terms.sponsor,
    lamports,
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
    mark: `sweep ${sweeps + 1}`,
    asset: first.asset,
    to: treasury,
    amount: 0n,
    plan: { feePayer: terms.sponsor, moves, movements, indexes: [], withheld: "0" },
  };
}

function movement(kind: Movement["kind"], { mint }: Token, amount: bigint): Movement {
  return { kind, mint, amount: String(amount) };
}
