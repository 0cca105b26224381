/** Pays a funded order out: payouts to all recipients, and the next payments after a failed payout. */
import type { PaymentFault } from "../../../machines/private-messages.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Assets } from "../assets/assets.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import {
  chunksOf,
  leafOf,
  payeesOf,
  payoutPlan,
  replacementPlan,
  type PaidRecipient,
  type PayoutMarker,
} from "../outgoing/plans/plan-payouts.ts";
import type {
  OrderRouting,
  RoutingOutcome,
  PlannedPayment,
  StartPayment,
} from "../outgoing/planned-payment.ts";
import {
  depositAddressOf,
  termsOf,
  type RoutingContext,
  type SponsorParts,
} from "../outgoing/plans/routing-terms.ts";
import {
  followedBy,
  proofOf,
  readPlan,
  withSeeds,
  type LeafPayment,
  type StoredPlan,
} from "../outgoing/plans/stored-plan.ts";
import { plannedElsewhere } from "../outgoing/plans/possible-plans.ts";
import { undisputed } from "../outgoing/plans/order-markers.ts";
import { refuseUnknownSpending } from "../outgoing/unknown-spending.ts";
import { ORDER_WORDS, planWords } from "../outgoing/plans/words.ts";

interface PayoutRoutingParts extends SponsorParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly keys: DepositKeys;
  readonly startPayment: StartPayment;
}

type Planned = Omit<PlannedPayment, "transactionId" | "address" | "mint">;

/** Routes sends and payrolls. Swaps are routed by `SwapRouting`. */
export class PayoutRouting implements OrderRouting {
  readonly #with: PayoutRoutingParts;

  constructor(surroundings: PayoutRoutingParts) {
    this.#with = surroundings;
  }

  async route(transactionId: string): Promise<RoutingOutcome> {
    const { storage, ledger, assets, sponsor } = this.#with;
    const view = await this.#load(transactionId);
    const { transaction, recipients } = view;
    const asset = assets.named(transaction.outputMint);
    const terms = await termsOf(this.#with, depositAddressOf(transaction));
    await refuseUnknownSpending({ storage, ledger }, terms.address);
    const quote = await storage.quote(transaction.quoteId);
    const payees = await payeesOf(ledger, terms, {
      asset,
      recipients,
      pricedAccounts: quote?.pricedAccounts ?? 0,
    });
    const chunks = chunksOf({ asset, sponsor }, payees);
    const words: PayoutMarker = { words: ORDER_WORDS, follows: null };
    if (chunks !== null) return this.#replace(view, terms, { words, leaves: chunks, leftOut: [] });
    const { start, write } = this.#start(view, {
      kind: "payout",
      role: "payout",
      mark: ORDER_WORDS,
      legs: payees.map(({ address, amount }) => ({ address, amount })),
      plan: payoutPlan(terms, { asset, payees }, words),
    });
    return { event: { type: "ROUTED", payouts: 1, unpaid: 0 }, starts: [start], writes: [write] };
  }

  async reroute(transactionId: string, payment: string, fault: PaymentFault | null): Promise<RoutingOutcome> {
    const view = await this.#load(transactionId);
    const row = view.payments.find(({ id }) => id === payment);
    if (row === undefined) throw new Error(`payment ${payment} is not stored`);
    const plan = readPlan(row.plan);
    const payees = payeesIn(row, plan);
    if (fault?.kind === "superseded") {
      return (await this.#followElsewhere(view, row)) ?? given(unpaidOf(view, plan));
    }
    if (fault?.kind === "source") return this.#payAgain(view, plan, payees);
    if (fault?.kind !== "payee" || payees.length === 1) return given(payees.length);
    const payable = await this.#payable(row, plan, fault);
    if (payable.length === 0) return given(payees.length);
    const proof = proofOf(plan);
    if (proof === null) throw new Error(`payout ${payment} makes no marker`);
    const leftOut = payees.filter((payee) => !payable.includes(payee)).map(({ index }) => index);
    const leaves = [leafOf(this.#with.sponsor, proof.words, payable)];
    const words = { words: proof.words, follows: followedBy(plan) };
    return this.#replace(view, await termsOf(this.#with, row.address), { words, leaves, leftOut });
  }

  /** The plan of another copy of the database, where it stands in the place of this payout; null where none does. */
  async #followElsewhere(view: TransactionView, row: PaymentRecord): Promise<RoutingOutcome | null> {
    const { storage, ledger, keys, sponsor } = this.#with;
    const stored = readPlan(row.plan);
    const proof = proofOf(stored);
    const [deposit] = await storage.deposits([row.address]);
    if (proof === null || deposit === undefined) return null;
    const { words } = proof;
    const told = await ledger.markers(deposit.id, [keys.seed(deposit, words)]);
    const [marker = "unmade"] = undisputed(deposit.id, told).markers;
    const delegate = marker === "unmade" ? null : marker.delegate;
    const plan =
      delegate === null ? null : await plannedElsewhere(this.#with, { deposit, view, words, delegate });
    if (plan === null) return null;
    const payees = payeesIn(row, stored);
    const leaves = plan.leaves.map(({ indexes }) =>
      leafOf(
        sponsor,
        words,
        payees.filter(({ index }) => indexes.includes(index)),
      ),
    );
    const replaced = { words: { words, follows: followedBy(stored) }, leaves, leftOut: plan.leftOut };
    return this.#replace(view, await termsOf(this.#with, row.address), replaced);
  }

  /** Pays again under the same words, with the loan that the address needs by now. */
  async #payAgain(
    view: TransactionView,
    plan: StoredPlan,
    payees: readonly PaidRecipient[],
  ): Promise<RoutingOutcome> {
    const { transaction, payments } = view;
    const words = { words: proofOf(plan)?.words ?? ORDER_WORDS, follows: followedBy(plan) };
    const terms = await termsOf(this.#with, depositAddressOf(transaction));
    const { start, write } = this.#start(view, {
      kind: "payout",
      role: "payout",
      mark: `${words.words} again ${payments.length}`,
      legs: payees.map(({ address, amount }) => ({ address, amount })),
      plan: payoutPlan(terms, { asset: this.#with.assets.named(transaction.outputMint), payees }, words),
    });
    return { event: { type: "ROUTED", payouts: 1, unpaid: 0 }, starts: [start], writes: [write] };
  }

  /**
   * The payees whom the chain would pay now. A payee whose own instruction fails is left out; an error that names no
   * instruction throws.
   */
  async #payable(
    row: PaymentRecord,
    plan: StoredPlan,
    fault: PaymentFault,
  ): Promise<readonly PaidRecipient[]> {
    const { storage, ledger, keys } = this.#with;
    const [deposit] = await storage.deposits([row.address]);
    if (deposit === undefined) throw new Error(`deposit address ${row.address} is not stored`);
    let payees = payeesIn(row, plan);
    const before = plan.moves.slice(0, plan.moves.length - payees.length);
    let failing = fault;
    for (;;) {
      const failed = failing.move === null ? undefined : payees[failing.move - before.length];
      if (failed === undefined) throw new Error(`the chain does not tell which payee of ${row.id} fails`);
      payees = payees.filter((payee) => payee !== failed);
      if (payees.length === 0) return [];
      const legs = plan.moves
        .slice(before.length)
        .filter((move) => payees.some((payee) => isLegOf(move, payee)));
      const tried = withSeeds({ feePayer: plan.feePayer, moves: [...before, ...legs] }, (words) =>
        keys.seed(deposit, words),
      );
      const found = await ledger.tryTransaction(tried, await ledger.buildTransaction(tried));
      if (found?.kind !== "payee") return payees;
      failing = found;
    }
  }

  /** Starts the plan that names these payments; they follow once it is confirmed. */
  #replace(
    view: TransactionView,
    terms: RoutingContext,
    replaced: {
      readonly words: PayoutMarker;
      readonly leaves: readonly LeafPayment[];
      readonly leftOut: readonly number[];
    },
  ): RoutingOutcome {
    const { words, leaves, leftOut } = replaced;
    const { start, write } = this.#start(view, {
      kind: "plan",
      role: "plan",
      mark: planWords(words.words, leaves),
      legs: [],
      plan: replacementPlan(terms, words, { leaves, leftOut }),
    });
    return { starts: [start], writes: [write] };
  }

  #start({ transaction }: TransactionView, planned: Planned): ReturnType<StartPayment> {
    const { id: transactionId, outputMint: mint } = transaction;
    const address = depositAddressOf(transaction);
    return this.#with.startPayment({ ...planned, transactionId, address, mint });
  }

  async #load(transactionId: string): Promise<TransactionView> {
    const view = await this.#with.storage.transaction(transactionId);
    if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
    return view;
  }
}

/** The event for recipients who cannot be paid. */
function given(unpaid: number): RoutingOutcome {
  return { event: { type: "ROUTED", payouts: 0, unpaid } };
}

/** Counted once the plan that this payout followed is decided, since the payment in its place may have paid them. */
function unpaidOf({ payments, recipients }: TransactionView, plan: StoredPlan): number {
  const follows = followedBy(plan);
  const parent = payments.find((each) => proofOf(readPlan(each.plan))?.planWords === follows);
  if (parent !== undefined && parent.status !== "failed" && parent.status !== "finalized") {
    throw new Error(`what became of the plan ${parent.id} is not known yet`);
  }
  return recipients.filter(({ index, status }) => plan.indexes.includes(index) && status !== "paid").length;
}

/** The payees of a planned payout, with the planned payers of token accounts. */
function payeesIn(row: PaymentRecord, { indexes, moves }: StoredPlan): readonly PaidRecipient[] {
  return moves.slice(moves.length - indexes.length).map((move, position) => {
    if (move.does !== "transfer") throw new Error(`payment ${row.id} does not end with its transfers`);
    const { to: address, amount, accountPayer, from } = move;
    return { index: indexes[position] ?? -1, address, amount, accountPayer: accountPayer ?? from };
  });
}

/** Payees of one order are all different addresses. */
function isLegOf(move: StoredPlan["moves"][number], { address }: PaidRecipient): boolean {
  return move.does === "transfer" && move.to === address;
}
