/** Settling a deposit address whose order is over: a look at the chain, and the one payment that comes next. */
import type {
  DepositAddressContext,
  DepositAddressEvent,
  SettlementParams,
} from "../../../machines/deposit-address-context.ts";
import type { Movement } from "../../../machines/private-messages.ts";
import { countedDeposit } from "../deposit-context.ts";
import type { PaymentTables } from "../tables.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Address } from "../../address.ts";
import type { EffectOutcome } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint, smallestAmount, type Assets, type Token } from "../assets/assets.ts";
import { collectionPlan, strayDeposits } from "./collect-strays.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { otherMints } from "../outgoing/plans/other-mints.ts";
import { hasOpenForRecipients } from "../outgoing/declined.ts";
import { OtherCopyReader } from "../outgoing/other-copy-payment.ts";
import { openMarkers, undisputed } from "../outgoing/plans/order-markers.ts";
import {
  nextSettlementStep,
  type Holding,
  type OpenPayment,
  type Settlement,
  type SettlementStep,
} from "../outgoing/plans/plan-settlement.ts";
import type { PlannedPayment, StartPayment } from "../outgoing/planned-payment.ts";
import type { RefundFees, RefundCost } from "../outgoing/plans/refund-cost.ts";
import type { PayerCheck } from "./screen-payers.ts";
import { cameOf, creditedAmounts } from "./received-funds.ts";
import { leftOf, SENT_ELSEWHERE, vouchedFunds } from "./vouched-funds.ts";
import { SCREENING } from "../recipients/recipients.ts";
import { termsOf, type SponsorParts } from "../outgoing/plans/routing-terms.ts";
import { proofOf, readPlan, type StoredPlan } from "../outgoing/plans/stored-plan.ts";
import { listedDoubt, spendingReason, type SpendingReason } from "../outgoing/unknown-spending.ts";
import { mayClose, type ClosingRules } from "../outgoing/closing.ts";
import { wordsIn } from "../outgoing/plans/kept-accounts.ts";
import { isExcess, isPlan, ORDER_WORDS } from "../outgoing/plans/words.ts";

/** The result of planning the next payment of an address. */
export type SettlementOutcome = EffectOutcome<DepositAddressEvent, PaymentTables>;

/** The effects by which an address plans its own payments. */
export interface AddressSettlement {
  /** The next step of an address whose order is over. */
  readonly settle: (address: string, params: SettlementParams) => Promise<SettlementOutcome>;
  /** Brings what is beside the associated account there, by a block not older than `fromSlot`. */
  readonly collect: (address: string, params: { readonly fromSlot: number }) => Promise<SettlementOutcome>;
}

type PlannedStep = Exclude<SettlementStep, { readonly do: "wait" | "rest" }>;

interface AddressInHand {
  readonly deposit: DepositRecord;
  readonly view: TransactionView;
}

interface SettlementEffectParts extends SponsorParts, ClosingRules {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly keys: DepositKeys;
  readonly treasury: Address;
  readonly startPayment: StartPayment;
  readonly refundCost: RefundCost;
  readonly mayServePayers: PayerCheck;
}

/** Effects of `deposit-address`: an effect looks at the chain and plans the next payment. */
export class SettlementEffects implements AddressSettlement {
  readonly #with: SettlementEffectParts;
  readonly #mints: readonly Address[];
  readonly #elsewhere: OtherCopyReader;

  constructor(surroundings: SettlementEffectParts) {
    this.#with = surroundings;
    this.#elsewhere = new OtherCopyReader(surroundings);
    this.#mints = surroundings.assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  }

  async collect(address: string, { fromSlot }: { readonly fromSlot: number }): Promise<SettlementOutcome> {
    const inHand = await this.#load(address);
    // Whatever is wrong with it, its order has to end; settling says what an operator must see.
    if (inHand.deposit.heldReason !== null) return { event: { type: "NOTHING_STRAY" } };
    const expected = this.#with.assets.named(inHand.deposit.mint);
    const collected = await this.#collectNow(inHand, [expected], fromSlot);
    if (collected?.event?.type === "COLLECTION_PLANNED") return collected;
    // Without the money, too: an order that another copy of the database has paid does not end as unpaid.
    const isPaid = await this.#elsewhere.hasPaidRecipients(inHand.deposit, inHand.view);
    return { event: { type: isPaid ? "PAID_ELSEWHERE" : "NOTHING_STRAY" } };
  }

  async settle(address: string, params: SettlementParams): Promise<SettlementOutcome> {
    // Read at each try, since planning that was refused for want of a landing must see it; and before the payments are
    // read, so that a landing which is heard of between the two is waited for. An operator who decides meanwhile is heard:
    // no step that was concluded before is made after it.
    const { version, context } = await countedDeposit(this.#with.storage, address);
    return { ...(await this.#settle(address, params, context)), expectedVersion: version };
  }

  async #settle(
    address: string,
    params: SettlementParams,
    { landed, settledSlot }: DepositAddressContext,
  ): Promise<SettlementOutcome> {
    const { ledger, configured, assets } = this.#with;
    const inHand = await this.#load(address);
    const { deposit, view } = inHand;
    if (deposit.heldReason !== null) return held(deposit.heldReason);
    // A payment is stored as final before the address has heard of it; until then the sums would not be right.
    if (view.payments.filter(({ status }) => status === "finalized").length !== landed) {
      throw new Error(`deposit address ${address} has not been told of all its payments yet`);
    }
    if (hasOpenForRecipients(view.payments)) {
      throw new Error(`a payment to a recipient out of deposit address ${address} has not ended yet`);
    }
    const collected = await this.#collectNow(inHand, assets.tokens, settledSlot);
    if (collected !== null) return collected;

    const { slot, funds } = await ledger.funds([deposit.id], this.#mints, "finalized");
    if (slot < settledSlot) throw new Error(`the ledger shows ${address} as it was before its last payment`);
    const amounts = creditedAmounts(funds[0]);
    const ours = Object.fromEntries(assets.tokens.map(({ mint }, index) => [mint, String(amounts[index])]));
    const facts = await this.#facts(inHand, amounts, params);
    const planned = nextSettlementStep(facts);
    const standing = { address, payments: view.payments, closeAbove: params.closeAbove ?? Infinity };
    const isTooEarly = planned.do === "sweep" && !(await mayClose(this.#with, standing));
    const step: SettlementStep = isTooEarly ? { do: "rest" } : planned;
    if (step.do === "wait" || step.do === "rest") {
      // What else was sent here is written down once nothing is left to be done.
      const others = await otherMints({ ledger, assets }, deposit.id);
      const balances = { ...(others.slot < settledSlot ? {} : others.balances), ...ours };
      if (step.do === "wait") return { event: { type: "MUST_WAIT", slot, balances } };
      const isBound = facts.markers.length > 0;
      const height = isBound ? (await configured.heights("finalized")).highest : 0;
      return { event: { type: "AT_REST", slot, balances, isBound, height } };
    }
    const isRest = step.do === "refund" || step.do === "decide";
    if (isRest && !(await this.#with.mayServePayers(address, view.transaction.id))) {
      return held(SCREENING);
    }
    const doubt = await this.#doubtOf(deposit, step);
    if (doubt !== null) return held(doubt);
    if (step.do === "decide") return held(SENT_ELSEWHERE);
    const type = step.do === "sweep" ? "SWEEP_PLANNED" : "REFUND_PLANNED";
    const { kind, mark, plan } = step;
    const legs = step.amount === 0n ? [] : [{ address: step.to, amount: step.amount }];
    const payment = { kind, mark, plan, legs, mint: step.asset.mint };
    return this.#pay(inHand, payment, (id) => ({ type, payment: id, slot, balances: ours }));
  }

  /** A sweep, and dust on its way back, pay nobody twice: there the list of what the address signed is enough. */
  async #doubtOf(deposit: DepositRecord, step: PlannedStep): Promise<SpendingReason | null> {
    const { storage, ledger } = this.#with;
    if (step.do === "refund" && step.amount >= smallestAmount(step.asset)) {
      return spendingReason({ storage, ledger }, deposit);
    }
    return listedDoubt({ storage, ledger }, deposit.id);
  }

  async #load(address: string): Promise<AddressInHand> {
    const { storage } = this.#with;
    const [deposit] = await storage.deposits([address]);
    const view = deposit === undefined ? null : await storage.transaction(deposit.transactionId);
    if (deposit === undefined || view === null) throw new Error(`deposit address ${address} is not stored`);
    return { deposit, view };
  }

  #pay(
    { deposit, view }: AddressInHand,
    planned: Omit<PlannedPayment, "transactionId" | "address" | "role">,
    eventOf: (payment: string) => DepositAddressEvent,
  ): SettlementOutcome {
    const { start, write } = this.#with.startPayment({
      ...planned,
      role: "own",
      transactionId: view.transaction.id,
      address: deposit.id,
    });
    return { event: eventOf(start.id), starts: [start], writes: [write] };
  }

  /** Null when there is nothing to collect. */
  async #collectNow(
    inHand: AddressInHand,
    tokens: Assets["tokens"],
    fromSlot: number,
  ): Promise<SettlementOutcome | null> {
    const { storage, ledger } = this.#with;
    const { id } = inHand.deposit;
    const { slot, deposits } = await strayDeposits(this.#with, id, {
      among: tokens,
      commitment: "finalized",
    });
    if (slot < fromSlot) throw new Error(`the ledger shows ${id} as it was before slot ${fromSlot}`);
    const [first] = deposits;
    if (first === undefined) return null;
    // Another copy of this database may have made a payment that this database does not know.
    const doubt = await listedDoubt({ storage, ledger }, id);
    if (doubt !== null) return held(doubt);
    const plan = collectionPlan(await termsOf(this.#with, id), deposits);
    const mark = `collect ${inHand.view.payments.length + 1}`;
    const planned = { kind: "collect", mark, mint: first.mint, legs: [], plan } as const;
    return this.#pay(inHand, planned, (payment) => ({ type: "COLLECTION_PLANNED", payment }));
  }

  async #facts(
    inHand: AddressInHand,
    amounts: readonly bigint[],
    { fee, mayRefund, closeAbove }: SettlementParams,
  ): Promise<Settlement> {
    const { deposit, view } = inHand;
    const { transaction, payments } = view;
    const redirected = await this.#redirected(inHand);
    const receiver = redirected?.to ?? transaction.sender;
    const standing = await this.#standingMarkers(inHand);
    const made = standing.map(({ words }) => words);
    const holdings = await Promise.all(
      this.#with.assets.tokens.map((asset, index) =>
        this.#holding(inHand, {
          asset,
          fee,
          receiver,
          balance: amounts[index] ?? 0n,
          isSwept: made.length > 0,
          redirected,
        }),
      ),
    );
    return {
      ...(redirected === null ? {} : { word: redirected.word }),
      terms: await termsOf(this.#with, deposit.id),
      receiver,
      treasury: this.#with.treasury,
      holdings,
      open: await this.#openPayments(inHand, standing),
      paidIn: transaction.outputMint,
      markers: made,
      excesses: excessesMade(payments, made),
      planned: payments.length,
      mayRefund,
      mayClose: closeAbove !== null,
    };
  }

  /** Null where what goes back goes to the sender. */
  async #redirected({ deposit: { id }, view }: AddressInHand): Promise<Redirected | null> {
    const { storage } = this.#with;
    const vouched = await vouchedFunds(storage, id);
    const redirection = vouched?.redirection ?? null;
    if (vouched === null || redirection === null) return null;
    const entries = await storage.entries(id);
    return {
      ...redirection,
      mostOf(mint, balance, rest) {
        const later = cameOf(entries, mint, balance) - (vouched.came.get(mint) ?? 0n);
        const earlier = later > 0n ? rest - later : rest;
        const left = leftOf(redirection, view.payments, mint);
        const most = earlier < left ? earlier : left;
        return most > 0n ? most : 0n;
      },
    };
  }

  /**
   * Payments to recipients that may still be made: a payment that another copy has made, by an operator's word, is no
   * longer open.
   */
  async #openPayments(
    { deposit, view }: AddressInHand,
    standing: readonly StandingMarker[],
  ): Promise<readonly OpenPayment[]> {
    const open = openMarkers(view.payments).map((each) => ({
      each,
      marker: standing.find(({ words }) => words === each.words),
    }));
    const arePaid = await Promise.all(
      open.map(async ({ each: { words }, marker }) => {
        if (marker?.delegate !== null) return false;
        return this.#elsewhere.hasPaid(deposit, words, view.payments);
      }),
    );
    return open
      .filter((_, index) => arePaid[index] !== true)
      .map(({ each, marker }) => ({
        ...each,
        amount: sharesOf(view, each.indexes),
        isMade: marker !== undefined,
      }));
  }

  /** All markers of the address that stand. */
  async #standingMarkers({ deposit, view }: AddressInHand): Promise<readonly StandingMarker[]> {
    const { ledger, keys } = this.#with;
    const words = [...new Set(view.payments.flatMap(({ plan }) => wordsIn(readPlan(plan))))];
    if (words.length === 0) return [];
    const seeds = words.map((each) => keys.seed(deposit, each));
    const { markers } = undisputed(deposit.id, await ledger.markers(deposit.id, seeds));
    return words
      .flatMap((each, index) => {
        const marker = markers[index] ?? "unmade";
        return marker === "unmade" ? [] : [{ words: each, delegate: marker.delegate }];
      })
      .toSorted((one, other) => inOrderOfClosing(one.words, other.words));
  }

  /** Splits an address's balance of one asset by owner. Reads only facts that the next step may depend on. */
  async #holding(
    { deposit, view }: AddressInHand,
    { asset, fee, receiver, balance, isSwept, redirected }: HeldAsset,
  ): Promise<Holding> {
    const { ledger, refundCost } = this.#with;
    const landed = view.payments
      .filter(({ status }) => status === "finalized")
      .map(({ kind, mint, plan }) => ({ kind, mint, plan: readPlan(plan) }));
    const plans = landed.map(({ plan }) => plan);
    const mint = ledgerMint(asset);
    const withheld = landed
      .filter((row) => row.kind === "refund" && row.mint === asset.mint)
      .reduce((sum, { plan }) => sum + BigInt(plan.withheld), 0n);
    const owed =
      (asset.mint === deposit.mint ? BigInt(fee) : 0n) + withheld - sumOf(plans, "fee", asset.mint);
    const kept = owed > 0n ? owed : 0n;
    const lent = sumOf(plans, "loan", asset.mint) - sumOf(plans, "repayment", asset.mint);
    const rest = balance - kept - lent;
    const isThere = async (of: Address): Promise<boolean> => {
      const [has] = await ledger.haveTokenAccounts([deposit.id], of);
      return has === true;
    };
    return {
      asset,
      balance,
      kept,
      lent,
      ...(redirected === null ? {} : { elsewhere: redirected.mostOf(asset.mint, balance, rest) }),
      // Refunds are priced where something is left to refund.
      ...(rest > 0n ? await refundCost(asset, receiver) : NO_REFUND),
      // Accounts are closed by a sweep, and there is none without a marker. One that holds something is there.
      hasAccount: mint !== null && isSwept && (balance > 0n || (await isThere(mint))),
    };
  }
}

/** A marker that stands, and the marker of the plan that replaced it on the chain. */
interface StandingMarker {
  readonly words: string;
  readonly delegate: Address | null;
}

const NO_REFUND: RefundFees = { refundCost: 0n, isAccountPriced: false };

/** An asset of which an address holds so much, and what the order keeps of the deposit. */
interface HeldAsset {
  readonly asset: Token;
  readonly balance: bigint;
  readonly fee: string;
  /** The receiver of refunds. */
  readonly receiver: Address;
  readonly isSwept: boolean;
  readonly redirected: Redirected | null;
}

/** A refund to another address than the sender's, and how much may go there now. */
interface Redirected {
  readonly word: string;
  readonly to: Address;
  /**
   * The most of a mint's rest that may go to the new receiver, at this balance; money received after the operator's
   * word is excluded.
   */
  readonly mostOf: (mint: string, balance: bigint, rest: bigint) => bigint;
}

/**
 * Closes markers of plans first, so that no payment that follows a plan can land any more, and the order's own marker
 * last: while that marker exists, no copy of this database can pay anybody of the order.
 */
function inOrderOfClosing(one: string, other: string): number {
  const rankOf = (words: string): number => (isPlan(words) ? 0 : words === ORDER_WORDS ? 2 : 1);
  return rankOf(one) - rankOf(other);
}

/** The sum due to these recipients; null stands for all recipients. */
function sharesOf({ recipients }: TransactionView, indexes: readonly number[] | null): bigint {
  return recipients
    .filter(({ index }) => indexes === null || indexes.includes(index))
    .reduce((sum, { amount }) => sum + amount, 0n);
}

function held(reason: string): SettlementOutcome {
  return { event: { type: "HELD", reason } };
}

function sumOf(plans: readonly StoredPlan[], kind: Movement["kind"], mint: string): bigint {
  return plans
    .flatMap(({ movements }) => movements)
    .filter((each) => each.kind === kind && each.mint === mint)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

/**
 * The number of refunds of excess: the final refunds here, and the refunds of another copy, whose standing markers no
 * payment here has signed.
 */
function excessesMade(payments: readonly PaymentRecord[], standing: readonly string[]): number {
  const wordsOf = (those: readonly PaymentRecord[]): readonly string[] =>
    those.map(({ plan }) => proofOf(readPlan(plan))?.words ?? "");
  const ended = wordsOf(payments.filter(({ status }) => status === "finalized"));
  const signed = new Set(wordsOf(payments.filter(({ signature }) => signature !== null)));
  const ofAnotherCopy = standing.filter((words) => !signed.has(words));
  return new Set([...ended, ...ofAnotherCopy].filter(isExcess)).size;
}
