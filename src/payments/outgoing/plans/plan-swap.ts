/** The transaction of a private swap: the marker, the payment of the deposit address, and the payment to its payee. */
import type { PaymentRecord } from "../../tables/payments.ts";
import type { Move, TransactionFault, TransactionPlan } from "../../../ledger/routing.ts";
import type { Token } from "../../assets/assets.ts";
import { loanOf, markOf, type RoutingContext } from "./routing-terms.ts";
import type { StoredPlan } from "./stored-plan.ts";
import { ORDER_WORDS } from "./words.ts";

/**
 * Every swap of an order is made under the same marker, at every price, so that only one of them lands. What leaves the deposit address is a payout of what was deposited; what the payee gets was never there. */
export function swapPlan(
  terms: RoutingContext,
  give: Token,
  {
    amount,
    legs,
  }: {
    /** Base units of `give`. */
    readonly amount: bigint;
    readonly legs: readonly Extract<Move, { does: "transfer" }>[];
  },
): StoredPlan {
  const loans = loanOf(terms, give);
  return {
    feePayer: terms.sponsor,
    moves: [markOf(terms, ORDER_WORDS), ...loans, ...legs],
    movements: [
      ...loans.map(() => ({ kind: "loan" as const, mint: give.mint, amount: String(terms.rentMinimum) })),
      { kind: "payout", mint: give.mint, amount: String(amount) },
    ],
    indexes: [0],
    withheld: "0",
  };
}

export function freshSwapMark(planned: readonly Pick<PaymentRecord, "kind">[]): string {
  const before = planned.filter(({ kind }) => kind === "swap").length;
  return `swap ${before + 1}`;
}

/**
 * The largest age of a price that is signed for: an older price is asked for again. The inventory of a quote is set
 * aside for the same time.
 */
const MAX_PRICE_MS = 2 * 60_000;

/** Whether the price of a waiting swap is too old to be signed. Payouts never get too old. */
export function isOutdated({ kind, createdAt }: PaymentRecord, now: number): boolean {
  return kind === "swap" && now - createdAt > MAX_PRICE_MS;
}

type PlannedRow = Pick<PaymentRecord, "kind" | "address">;

/**
 * The meaning of a fault for a swap: the deposit address pays for a payee's unpriced token account, and if it cannot,
 * the fault is the payee's. Faults of other payments stay unchanged.
 */
export function faultOfSwap(
  row: PlannedRow,
  plan: Pick<TransactionPlan, "moves">,
  fault: TransactionFault,
): TransactionFault {
  const isPayees = fault.kind === "fee_payer" && lastLeg(row, plan, fault)?.accountPayer === row.address;
  return isPayees ? { ...fault, kind: "payee" } : fault;
}

/** Whether the provider, who pays last, cannot pay: if so, repeating the swap is useless. */
export function isProvidersFault(
  row: PlannedRow,
  plan: Pick<TransactionPlan, "moves">,
  fault: TransactionFault,
): boolean {
  return fault.kind === "source" && lastLeg(row, plan, fault) !== null;
}

/** The provider's leg, when that leg is at fault. */
function lastLeg(
  { kind }: PlannedRow,
  { moves }: Pick<TransactionPlan, "moves">,
  { move }: TransactionFault,
): Extract<Move, { does: "transfer" }> | null {
  const last = moves.at(-1);
  return kind === "swap" && move === moves.length - 1 && last?.does === "transfer" ? last : null;
}
