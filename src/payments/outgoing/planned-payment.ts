/** Starts payments from plans, and those that a plan names once it is on the chain: the row and the start of the machine. */
import type { payment, PaymentEvent } from "../../../machines/payment.ts";
import type { PaymentRole, PaymentFault } from "../../../machines/private-messages.ts";
import type { PrivateTransferEvent } from "../../../machines/private-transfer.ts";
import type { PaymentTables } from "../tables.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { startOf, type StartRequest, type Workflow, type EffectOutcome } from "../../engine/index.ts";
import type { Address } from "../../address.ts";
import type { Clock } from "../../runtime.ts";
import { derivedId } from "../ids.ts";
import type { ReservationResult } from "../swap-provider/reserve.ts";
import { writePlan, type StoredPlan, proofOf, type LeafPayment } from "./plans/stored-plan.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Assets } from "../assets/assets.ts";
import { payoutPlan, type PaidRecipient } from "./plans/plan-payouts.ts";
import { depositAddressOf, termsOf, type RoutingContext, type SponsorParts } from "./plans/routing-terms.ts";

/** Pause before what may pass by itself (an empty sponsor, a node's mood) is tried again. */
const RETRY_PAUSE_MS = 30_000;

export type PaymentWorkflow = Workflow<typeof payment, PaymentTables>;

/** A planned payment: payer, recipients and amounts. */
export interface PlannedPayment {
  readonly transactionId: string;
  readonly address: Address;
  readonly kind: PaymentRecord["kind"];
  /** Names this payment within its address, once. */
  readonly mark: string;
  readonly mint: string;
  readonly legs: PaymentRecord["legs"];
  readonly plan: StoredPlan;
  readonly role: PaymentRole;
  /** The reservation for the payment, by its id. */
  readonly reserve?: (paymentId: string) => ReservationResult;
}

/** Parts of the commit that starts a payment: the machine's start, the row, and the reservations. */
interface StartedPayment {
  readonly start: StartRequest;
  readonly write: PaymentWrite;
  readonly reserved: ReservationResult["writes"];
}

/** The id follows from address and mark: planning a payment twice gives the same id. */
export type StartPayment = (planned: PlannedPayment) => StartedPayment;

/** `workflow` is asked for late, since payments start payments. */
export function paymentStarter(workflow: () => PaymentWorkflow, clock: Clock): StartPayment {
  return (planned) => {
    const { transactionId, address, kind, mark, mint, legs, plan, role } = planned;
    const id = derivedId("pay", transactionId, address, mark);
    const reserved = planned.reserve?.(id) ?? { names: [], writes: [] };
    const leaves = plan.leaves?.flatMap(({ indexes }) => indexes) ?? [];
    const start = startOf(workflow(), id, {
      paymentId: id,
      address,
      order: transactionId,
      role,
      indexes: plan.indexes,
      recipients: plan.indexes.length + leaves.length + (plan.leftOut?.length ?? 0),
      movements: plan.movements,
      retryPauseMs: RETRY_PAUSE_MS,
      reservations: reserved.names.map((each) => each.id),
    });
    const row: PaymentRecord = {
      id,
      transactionId,
      address,
      kind,
      mark,
      mint,
      legs,
      plan: writePlan(plan),
      status: "planned",
      signature: null,
      reason: null,
      createdAt: clock.now(),
      stuckSince: null,
    };
    return { start, write: { table: "payments", insert: row }, reserved: reserved.writes };
  };
}

/** The result of planning payouts: their starts, their rows and the count for the order, in one commit. */
export type RoutingOutcome = EffectOutcome<
  Extract<PrivateTransferEvent, { readonly type: "ROUTED" | "NOT_NOW" }>,
  PaymentTables
>;

export interface OrderRouting {
  /** Plans the payouts of all recipients of an order. */
  route(transactionId: string): Promise<RoutingOutcome>;
  /** Plans what comes in the place of a failed payout. */
  reroute(transactionId: string, payment: string, fault: PaymentFault | null): Promise<RoutingOutcome>;
}

/** Starts all payments of a plan in one commit, with the count for the order; a second time they are there already. */
export type LeafPaymentHandler = (
  view: TransactionView,
  plan: StoredPlan,
) => Promise<EffectOutcome<PaymentEvent, PaymentTables>>;

interface LeafPaymentParts extends SponsorParts {
  readonly assets: Assets;
  readonly startPayment: StartPayment;
}

export function leafStarter(surroundings: LeafPaymentParts): LeafPaymentHandler {
  const { assets, startPayment } = surroundings;
  return async (view, plan) => {
    const { id: transactionId, outputMint: mint } = view.transaction;
    const { leaves = [], leftOut = [] } = plan;
    const follows = proofOf(plan)?.planWords ?? null;
    const asset = assets.named(mint);
    const terms = await termsOf(surroundings, depositAddressOf(view.transaction));
    const present = new Set(view.payments.map(({ mark }) => mark));
    const started = leaves
      .filter(({ words }) => !present.has(words))
      .map((leaf) => {
        const { words } = leaf;
        const payees = payeesOfLeaf(view, leaf, terms);
        return startPayment({
          transactionId,
          address: terms.address,
          kind: "payout",
          mark: words,
          mint,
          role: "payout",
          legs: payees.map(({ address, amount }) => ({ address, amount })),
          plan: payoutPlan(terms, { asset, payees }, { words, follows }),
        });
      });
    return {
      event: { type: "LEAVES_STARTED", payouts: leaves.length, unpaid: leftOut.length },
      starts: started.map(({ start }) => start),
      writes: started.map(({ write }) => write),
    };
  };
}

function payeesOfLeaf(
  { recipients }: TransactionView,
  { indexes, sponsored }: LeafPayment,
  { address: own, sponsor }: RoutingContext,
): readonly PaidRecipient[] {
  return recipients
    .filter(({ index }) => indexes.includes(index))
    .map(({ index, address, amount }) => ({
      index,
      address,
      amount,
      accountPayer: sponsored.includes(index) ? sponsor : own,
    }));
}
