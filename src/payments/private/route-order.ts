/** Paying a funded order out: the payouts of all recipients, and what comes after one that failed. */
import type { PaymentFault, PrivateTransferEvent } from "../../../machines/index.ts";
import type { PaymentRecord } from "../../../storage/records.ts";
import type {
  PaymentStorage,
  PaymentTables,
  PaymentWrite,
  TransactionView,
} from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import type { EffectOutcome, StartRequest } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { Assets, Token } from "../assets.ts";
import type { PaymentWorkflow } from "./payment-workflow.ts";
import { packPayees, payeesOf, payoutMark, payoutPlan } from "./plan-payouts.ts";
import type { Payee } from "./plan-payouts.ts";
import { startPayment } from "./planned-payment.ts";
import type { RoutingTerms } from "./routing-terms.ts";
import { readPlan } from "./stored-plan.ts";
import { refuseUnknownSpending } from "./unknown-spending.ts";

/** What planning payouts leads to: their starts, their rows and the count for the order, in one commit. */
export type Routed = EffectOutcome<
  Extract<PrivateTransferEvent, { readonly type: "ROUTED" | "NOT_NOW" }>,
  PaymentTables
>;

export interface OrderRouting {
  /** Plans the payouts of all recipients of an order. */
  route(transactionId: string): Promise<Routed>;
  /** Plans anew what a failed payout was to pay. */
  reroute(transactionId: string, payment: string, fault: PaymentFault | null): Promise<Routed>;
}

export function orderRouting({
  storage,
  ledger,
  clock,
  assets,
  sponsor,
  payments,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly sponsor: Address;
  readonly payments: PaymentWorkflow;
}): OrderRouting {
  const load = async (transactionId: string): Promise<TransactionView> => {
    const view = await storage.transaction(transactionId);
    if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
    return view;
  };

  const termsOf = async ({ transaction }: TransactionView): Promise<RoutingTerms & { asset: Token }> => ({
    address: transaction.depositAddress as Address,
    sponsor,
    rentMinimum: await ledger.rentMinimum(0),
    asset: assets.named(transaction.mint),
  });

  /** Starts one payout for each group of payees, all of them in one commit. */
  const payOut = async (view: TransactionView, groups: readonly (readonly Payee[])[]): Promise<Routed> => {
    const { transaction, payments: planned } = view;
    const { asset, ...terms } = await termsOf(view);
    const starts: StartRequest[] = [];
    const writes: PaymentWrite[] = [];
    for (const payees of groups) {
      const mark = freshMark(payees, planned);
      const payout = {
        transactionId: transaction.id,
        address: terms.address,
        kind: "payout",
        mark,
        mint: transaction.mint,
        legs: payees.map(({ address, amount }) => ({ address, amount })),
        plan: payoutPlan(terms, asset, payees, mark),
        isAwaited: true,
      } as const;
      const { start, write } = startPayment(payments, payout, clock.now());
      starts.push(start);
      writes.push(write);
    }
    return { event: { type: "ROUTED", payouts: starts.length, unpaid: 0 }, starts, writes };
  };

  return {
    async route(transactionId) {
      const view = await load(transactionId);
      const { asset, ...terms } = await termsOf(view);
      await refuseUnknownSpending({ storage, ledger }, terms.address);
      const quote = await storage.quote(view.transaction.quoteId);
      const payees = await payeesOf(ledger, terms, asset, view.recipients, quote?.pricedAccounts ?? 0);
      return payOut(view, await packPayees(ledger, terms, asset, payees));
    },
    async reroute(transactionId, payment, fault) {
      const view = await load(transactionId);
      const row = view.payments.find(({ id }) => id === payment);
      if (row === undefined) throw new Error(`payment ${payment} is not stored`);
      const payees = payeesIn(row);
      // The mark was taken by a stranger, or nothing went well for a long time: the same once more, under other words.
      if (fault?.kind !== "payee") return payOut(view, [payees]);
      if (payees.length === 1) return { event: { type: "ROUTED", payouts: 0, unpaid: 1 } };
      const { moves } = readPlan(row.plan);
      // The payees' transfers are the last moves.
      const failing = fault.move === null ? -1 : fault.move - (moves.length - payees.length);
      return payOut(view, apart(payees, failing));
    },
  };
}

/** The payees of a payout as it was planned: who pays for whose account stays as it is. */
function payeesIn(row: PaymentRecord): readonly Payee[] {
  const { indexes, moves } = readPlan(row.plan);
  return moves.slice(-indexes.length).map((move, position) => {
    if (move.does !== "transfer") throw new Error(`payment ${row.id} does not end with its transfers`);
    const { to: address, amount, accountPayer, from } = move;
    return { index: indexes[position] ?? -1, address, amount, accountPayer: accountPayer ?? from };
  });
}

/** The one whose own instruction fails is tried alone, and the others without it; when nobody knows whose it was, halves. */
function apart(payees: readonly Payee[], failing: number): readonly (readonly Payee[])[] {
  const alone = payees[failing];
  if (alone !== undefined) return [payees.filter((payee) => payee !== alone), [alone]];
  const middle = Math.ceil(payees.length / 2);
  return [payees.slice(0, middle), payees.slice(middle)];
}

/** Words that no payment of the address has had. */
function freshMark(payees: readonly Payee[], planned: readonly PaymentRecord[]): string {
  const taken = new Set(planned.map(({ mark }) => mark));
  for (let attempt = 1; ; attempt++) {
    const mark = payoutMark(payees, attempt);
    if (!taken.has(mark)) return mark;
  }
}
