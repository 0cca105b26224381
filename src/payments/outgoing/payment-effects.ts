/** Effects of a payment: signs, sends, and reads its marker; a plan starts the payments that it names. */
import type { PaymentEvent } from "../../../machines/payment.ts";
import type { PaymentFault } from "../../../machines/private-messages.ts";
import type { PaymentTables } from "../tables.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { AttemptRecord, PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Address } from "../../address.ts";
import type { EffectOutcome } from "../../engine/index.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Bid, TransactionFault, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import { signTransaction, type Signer } from "../../ledger/sign-transaction.ts";
import type { Logger } from "../../runtime.ts";
import { smallestAmount, type Assets } from "../assets/assets.ts";
import { faultOfSwap, isOutdated, isProvidersFault } from "./plans/plan-swap.ts";
import type { PriceCheck } from "../swap-provider/price-check.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { isReturn } from "./plans/plan-return.ts";
import { PaymentOutcomeReader } from "./read-outcome.ts";
import type { LandingCache } from "./landing-cache.ts";
import { spendingsOf } from "../purses/sponsor-limit.ts";
import {
  allowanceOf,
  costOfLanding,
  returnedAllowances,
  spentBy,
  SPONSOR_CAP,
  withCost,
  withoutDead,
} from "../purses/sponsor-allowance.ts";
import { nextBid, passedBid, returnedBids, withBid, type NextBid } from "./bids.ts";
import { lastHeightOf, isOvertaken } from "./signing-anew.ts";
import type { LeafPaymentHandler } from "./planned-payment.ts";
import { depositContext } from "../deposit-context.ts";
import { mayClose, type ClosingRules } from "./closing.ts";
import { isDeclinedPayment, isToRecipients } from "./declined.ts";
import { KeptAccountList } from "./plans/kept-accounts.ts";
import { followedBy, proofOf, readPlan, withSeeds, writePlan, type StoredPlan } from "./plans/stored-plan.ts";
import { holdAddress, listedDoubt, UNKNOWN_SPENDING, type SpendingCheck } from "./unknown-spending.ts";

interface PaymentEffectParts extends ClosingRules {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly log: Logger;
  readonly keys: DepositKeys;
  readonly sponsor: Signer;
  readonly treasury: Address;
  /** Further signers of some transactions: the provider of a swap. */
  readonly cosigners: readonly Signer[];
  /** Lamports; see `PrivateRoutingOptions`. */
  readonly maxMarkerRent: bigint;
  /** Lamports; see `PrivateRoutingOptions.maxRaisedBidsPerDay`. */
  readonly mostRaisedPerDay: bigint;
  readonly spendingCheck: SpendingCheck;
  readonly landings: LandingCache;
  /** Whether a swap may still be signed for at the price it was planned at. */
  readonly isPriceGood: PriceCheck;
  readonly startLeaves: LeafPaymentHandler;
}

type Outcome = Promise<EffectOutcome<PaymentEvent, PaymentTables>>;

interface PaymentInHand {
  readonly row: PaymentRecord;
  readonly deposit: DepositRecord;
  readonly view: TransactionView;
  readonly stored: StoredPlan;
  readonly plan: TransactionPlan;
}

/** The reason why an address is held whose payment cannot be made, with no sign that it ever can. */
const CANNOT_BE_MADE = "payment_cannot_be_made";
/** The reason why an address is held whose attempts landed with errors again and again, at the sponsor's cost. */
const PAYMENT_FAILS = "payment_fails";
/** An operator is told of a payment when so many of its attempts were taken by endpoints and did not land. */
const STUCK_AFTER = 3;
const MAX_TRIES = 20;

/** Effects of the chart `payment`. Each loads the payment by its id; a rejection means: try again later. */
export class PaymentEffects {
  readonly #with: PaymentEffectParts;
  readonly #outcomes: PaymentOutcomeReader;

  constructor(surroundings: PaymentEffectParts) {
    this.#with = surroundings;
    this.#outcomes = new PaymentOutcomeReader(surroundings);
  }

  /**
   * Signs a payment; the outcome is committed before the first byte leaves: the bytes, their signature and their last
   * height.
   */
  async sign(paymentId: string, failures: number): Outcome {
    const { storage, ledger, clock } = this.#with;
    const inHand = await this.#load(paymentId);
    const { row, deposit, plan } = inHand;
    refuseHeld(deposit);
    if (await isOvertaken(storage, inHand.stored, deposit.id)) {
      return { event: { type: "REFUSED", fault: SUPERSEDED } };
    }
    if (this.#takesFromMarkers(inHand)) return { event: { type: "REFUSED", fault: AGAINST_MARKERS } };
    // The marker of what another copy of this database has paid may be closed already: it would refuse nothing.
    const doubt = this.#isHarmless(row)
      ? await listedDoubt(this.#with, deposit.id)
      : await this.#with.spendingCheck(deposit.id);
    if (doubt !== null) return this.#hold(deposit, doubt);
    await this.#refuseEarlyClosing(inHand);
    // Bytes live for a minute: what would wait for its first send is not signed yet.
    if (!(await ledger.takeSendPlace("first"))) {
      throw new Error("no endpoint has a place for another send now");
    }
    const { sponsor, mostRaisedPerDay } = this.#with;
    const rules = { storage, ledger, clock, sponsor: sponsor.address, mostRaisedPerDay };
    const next = await nextBid(rules, inHand);
    const tried = await this.#try(plan, next.bid);
    if (tried instanceof RangeError) return this.#meetUnbuildable(inHand, tried, failures);
    const { unsigned, found } = tried;
    const fault = found && faultOfSwap(row, plan, found);
    if (fault?.kind === "marked") return this.#meetMarker(inHand);
    // After the marker: payments of another copy are reported as paid.
    if (await isDeclinedPayment(storage, row)) return { event: { type: "REFUSED", fault: SUPERSEDED } };
    if (fault?.kind === "unplanned") return this.#meetMissingPlan(inHand);
    const mustBePricedAgain = isOutdated(row, clock.now()) || !(await this.#with.isPriceGood(row));
    if (mustBePricedAgain) return { event: { type: "REFUSED", fault: OUTDATED } };
    if (fault !== null) return this.#meetFault(inHand, fault, failures);
    const maker = await this.#makerOfLostMarker(inHand);
    if (maker !== null) return this.#meetLostMarker(inHand, maker);
    return this.#signAttempt(inHand, unsigned, next);
  }

  /** A relay's tip stands in no payment's way: what fails with one is tried without. */
  async #try(
    plan: TransactionPlan,
    bid: Bid,
  ): Promise<
    RangeError | { readonly unsigned: UnsignedTransaction; readonly found: Evidence<TransactionFault> | null }
  > {
    const { ledger } = this.#with;
    const unsigned = await ledger.buildTransaction(plan, bid).catch(onlyRangeError);
    if (unsigned instanceof RangeError) return unsigned;
    const found = await ledger.tryTransaction(plan, unsigned);
    return found !== null && unsigned.tip !== undefined
      ? await this.#try(plan, { ...bid, tip: 0n })
      : { unsigned, found };
  }

  /** Unknown is not failed: after this first send the watch sends the same bytes again and again. */
  async broadcast(signature: string): Outcome {
    const { storage, ledger, clock, log } = this.#with;
    const [attempt] = await storage.attempts([signature]);
    if (attempt === undefined) throw new Error(`the bytes of ${signature} are not stored`);
    const event = { type: "BROADCAST" } as const;
    try {
      await ledger.broadcast(attempt.bytes);
    } catch (err) {
      log.warn({ signature, err }, "a first broadcast was not acknowledged; the watch goes on with it");
      return { event };
    }
    return { event, writes: [{ table: "attempts", id: signature, set: { takenAt: clock.now() } }] };
  }

  async readMarker(paymentId: string, error: string | null): Outcome {
    const { row, deposit, view } = await this.#load(paymentId);
    const outcome = await this.#outcomes.read({ row, deposit, view });
    switch (outcome.kind) {
      case "unknown":
        return this.#hold(deposit, UNKNOWN_SPENDING);
      case "foreclosed":
        return { event: { type: "REFUSED", fault: SUPERSEDED } };
      case "made": {
        const { signature, slot, blockTime, elsewhere } = outcome;
        this.#noteLanding(row, outcome);
        const made = { type: "MADE", signature, slot, blockTime } as const;
        if (elsewhere === undefined) return { event: made };
        const { movements, writes } = elsewhere;
        return { event: { ...made, movements }, writes };
      }
      case "overtaken": {
        const rival = view.payments.find(({ id }) => id === outcome.payment);
        if (rival?.status === "finalized") return { event: { type: "REFUSED", fault: SUPERSEDED } };
        const { payment, indexes, unpaid, movements, signature, slot, blockTime } = outcome;
        return {
          event: { type: "OVERTAKEN", payment, indexes, unpaid, movements, signature, slot, blockTime },
          writes: rival === undefined ? [] : pricedWrites(rival, indexes),
        };
      }
      case "unmade": {
        const { death } = outcome;
        // The watch reported the error of one node. An error can leave a payee out, so enough nodes must tell the error.
        const isLanded = error !== null && (await this.#agreedError(row)) !== null;
        const isPresumed = death === "presumed" || (error !== null && !isLanded);
        const event = { type: "UNMADE", isDead: death !== "none", isPresumed } as const;
        if (death === "none" || (death === "agreed" && isLanded)) return { event };
        return { event, writes: await this.#deadWrites(row, { isPresumed, isExpired: error === null }) };
      }
    }
  }

  #noteLanding(
    { plan, signature: newest, createdAt }: PaymentRecord,
    { signature, blockTime }: { readonly signature: string | null; readonly blockTime: number | null },
  ): void {
    const fee = readPlan(plan).costs?.at(-1);
    if (signature !== newest || blockTime === null || fee === undefined) return;
    this.#with.landings.note({ networkFee: Number(fee), landedAfterMs: blockTime * 1_000 - createdAt });
  }

  async explain(paymentId: string): Outcome {
    const { row, plan } = await this.#load(paymentId);
    const error = await this.#agreedError(row);
    if (error === null) throw new Error(`too few endpoints tell the error of payment ${paymentId}`);
    const fault = faultOfSwap(row, plan, await this.#with.ledger.explainError(plan, error));
    return { event: { type: "EXPLAINED", fault: faultOf(fault) } };
  }

  /** The error with which the newest bytes landed, as enough endpoints tell it. */
  async #agreedError({ signature }: PaymentRecord): Promise<Evidence<string> | null> {
    const [error = null] = signature === null ? [] : await this.#with.ledger.landedErrors([signature]);
    return error;
  }

  async hold(paymentId: string): Outcome {
    const { deposit } = await this.#load(paymentId);
    if (deposit.heldReason === null) await holdAddress(this.#with.storage, deposit.id, PAYMENT_FAILS);
    return {};
  }

  async startLeaves(paymentId: string): Outcome {
    const { view, stored } = await this.#load(paymentId);
    return this.#with.startLeaves(view, stored);
  }

  async #load(paymentId: string): Promise<PaymentInHand> {
    const { storage, keys } = this.#with;
    const row = await storage.payment(paymentId);
    const [deposit] = row === null ? [] : await storage.deposits([row.address]);
    const view = row === null ? null : await storage.transaction(row.transactionId);
    if (row === null || deposit === undefined || view === null) {
      throw new Error(`payment ${paymentId} is not stored`);
    }
    const stored = readPlan(row.plan);
    return { row, deposit, view, stored, plan: withSeeds(stored, (words) => keys.seed(deposit, words)) };
  }

  /** Holds the address and signs nothing: an operator has to look at its trouble. */
  async #hold(deposit: DepositRecord, reason: string): Promise<never> {
    await holdAddress(this.#with.storage, deposit.id, reason);
    throw new Error(`deposit address ${deposit.id} is held: ${reason}`);
  }

  /**
   * Whether a payment pays nobody twice: a collection stays at the address, and a sweep only moves money to its proper
   * place. An address is not held for a dust refund either.
   */
  #isHarmless({ kind, mint, legs }: PaymentRecord): boolean {
    if (kind === "sweep" || kind === "collect") return true;
    const asset = this.#with.assets.ofMint(mint);
    const amount = legs.reduce((sum, leg) => sum + leg.amount, 0n);
    return kind === "refund" && asset !== null && amount < smallestAmount(asset);
  }

  /** Whether the plan would close or empty an account that the rules of markers keep, whoever ordered it. */
  #takesFromMarkers({ row, deposit, view: { payments }, plan }: PaymentInHand): boolean {
    const account = new KeptAccountList(this.#with, { deposit, payments }).takenBy(plan);
    if (account === null) return false;
    this.#with.log.warn({ payment: row.id, account }, "a plan that would take from a marker is not signed");
    return true;
  }

  /** Rejects, and the task comes back, while a marker that the plan closes must stand. */
  async #refuseEarlyClosing({ row, deposit, view: { payments }, plan }: PaymentInHand): Promise<void> {
    if (!plan.moves.some(({ does }) => does === "unmark")) return;
    const { closeAbove } = await depositContext(this.#with.storage, deposit.id);
    const standing = { address: deposit.id, payments, closeAbove: closeAbove ?? Infinity };
    if (await mayClose(this.#with, standing)) return;
    throw new Error(`payment ${row.id} closes markers of ${deposit.id} before their time`);
  }

  /** A simulation is of confirmed blocks; only a finalized marker decides. */
  async #meetMarker(inHand: PaymentInHand): Outcome {
    const { kind } = await this.#outcomes.read(inHand);
    if (kind !== "unmade") return { event: { type: "MARKED" } };
    throw new Error(`the marker of payment ${inHand.row.id} is not final yet`);
  }

  async #meetMissingPlan({ row, deposit, view, stored }: PaymentInHand): Outcome {
    const plan = followedBy(stored);
    if (plan !== null && (await this.#outcomes.isAbandoned({ deposit, view }, plan))) {
      return { event: { type: "REFUSED", fault: SUPERSEDED } };
    }
    throw new Error(`the plan that payment ${row.id} follows is not on the chain yet`);
  }

  /** No node can make it buildable. Where one told a rent of nothing when the loan was planned, it is planned again. */
  async #meetUnbuildable({ deposit, stored }: PaymentInHand, error: RangeError, failures: number): Outcome {
    if (await this.#lendsTooLittle(stored)) return { event: { type: "REFUSED", fault: UNPAYABLE } };
    if (failures >= MAX_TRIES) return this.#hold(deposit, CANNOT_BE_MADE);
    throw error;
  }

  async #meetFault(
    { row, deposit, stored, plan }: PaymentInHand,
    fault: TransactionFault,
    failures: number,
  ): Outcome {
    const isDecided =
      isFinal(fault, row) ||
      isProvidersFault(row, plan, fault) ||
      (fault.kind === "source" && (await this.#lendsTooLittle(stored)));
    if (isDecided) return { event: { type: "REFUSED", fault: faultOf(fault) } };
    if (isNobodysToMend(fault) && failures >= MAX_TRIES) return this.#hold(deposit, CANNOT_BE_MADE);
    // Anything else may pass: the task stays, and comes back after a growing pause.
    throw new Error(`payment ${row.id} cannot be made now: ${fault.kind}, ${fault.error}`);
  }

  /** Bytes that are presumed dead may land all the same, and then cost their fee. */
  async #deadWrites(
    { id, plan, signature, stuckSince }: PaymentRecord,
    { isPresumed, isExpired }: { readonly isPresumed: boolean; readonly isExpired: boolean },
  ): Promise<readonly PaymentWrite[]> {
    const { storage, clock, sponsor } = this.#with;
    const stored = readPlan(plan);
    const dead = new Set([...(stored.presumed ?? []), signature ?? ""]);
    const costs = isPresumed ? { presumed: [...dead] } : withoutDead(stored, dead);
    const [attempt] = isExpired && signature !== null ? await storage.attempts([signature]) : [];
    const bids = attempt === undefined ? {} : { bids: passedBid(stored, attempt) };
    const isStuck = stuckSince === null && (bids.bids?.passed ?? 0) >= STUCK_AFTER;
    const set = { plan: writePlan({ ...stored, ...costs, ...bids }) };
    const returned = isPresumed
      ? []
      : await Promise.all([
          returnedAllowances(storage, dead, clock.now()),
          returnedBids(storage, sponsor.address, dead),
        ]);
    return [
      { table: "payments", id, set: isStuck ? { ...set, stuckSince: clock.now() } : set },
      ...returned.flat(),
    ];
  }

  /**
   * Attempts that are presumed dead count until endpoints agree about them: that is no case for an operator. Once they agree
   * the reading of the marker takes the costs back.
   */
  async #meetCap(inHand: PaymentInHand): Outcome {
    const { row, deposit, stored } = inHand;
    if ((stored.presumed ?? []).length === 0) return this.#hold(deposit, SPONSOR_CAP);
    const outcome = await this.#outcomes.read(inHand);
    if (outcome.kind !== "unmade" || outcome.death === "agreed") return { event: { type: "MARKED" } };
    throw new Error(`attempts of payment ${row.id} may still cost what its order has left`);
  }

  async #signAttempt(inHand: PaymentInHand, unsigned: UnsignedTransaction, { count }: NextBid): Outcome {
    const { row, deposit, stored, plan } = inHand;
    const { storage, ledger, clock, keys, sponsor, treasury, cosigners, maxMarkerRent } = this.#with;
    if (unsigned.markerRent > maxMarkerRent) {
      const bound = `privateRouting.maxMarkerRent is ${maxMarkerRent}`;
      throw new Error(`the rent of a marker is said to be ${unsigned.markerRent} lamports, and ${bound}`);
    }
    const purses = { sponsor: sponsor.address, ours: [row.address, treasury] };
    const cost = await costOfLanding(ledger, purses, { plan, networkFee: unsigned.networkFee });
    const costs = withCost(stored, cost);
    const added = spentBy(costs) - spentBy(stored);
    const allowance = await allowanceOf(storage, row);
    // A sweep brings back more than it costs.
    if (row.kind !== "sweep" && added > allowance.left) return this.#meetCap(inHand);
    const signer = keys.signer(deposit);
    if (signer.address !== row.address) throw new Error(`the key of ${row.address} cannot be derived`);
    const signed = await signTransaction(unsigned, [sponsor, signer, ...cosigners]);
    const attempt: AttemptRecord = {
      id: signed.signature,
      messageHash: signed.messageHash,
      transactionId: row.transactionId,
      bytes: signed.bytes,
      blockhash: signed.blockhash,
      lastValidBlockHeight: lastHeightOf(signed, await ledger.heights("confirmed")),
      firstSlot: signed.firstSlot,
      reference: null,
      createdAt: clock.now(),
      takenAt: null,
      tip: unsigned.tip ?? null,
    };
    const signers = { sponsor: sponsor.address, desk: cosigners[0]?.address ?? null };
    const bids = withBid(stored, unsigned);
    const signatures = [...(stored.signatures ?? []), signed.signature];
    const set = { signature: signed.signature, plan: writePlan({ ...stored, ...costs, bids, signatures }) };
    return {
      event: { type: "SIGNED", signature: signed.signature },
      writes: [
        { table: "attempts", insert: attempt },
        // A hold, or an operator's word, that came since the address was read refuses the signature.
        { table: "deposits", id: deposit.id, expectVersion: deposit.version },
        allowance.take({ signature: attempt.id, cost: added, at: attempt.createdAt }),
        ...spendingsOf(
          signers,
          { row, signature: signed.signature, cost: cost.fee + cost.rent },
          attempt.createdAt,
        ),
        ...count(signed.signature, unsigned),
        { table: "payments", id: row.id, set },
      ],
    };
  }

  /**
   * The transaction that paid recipients under this marker, when another copy has closed the marker since: either after
   * an operator released the address while the marker stood, or after a version under the same words, signed here, had
   * landed.
   */
  async #makerOfLostMarker({ row, deposit, stored, view }: PaymentInHand): Promise<string | null> {
    const { storage, ledger, keys } = this.#with;
    const proof = proofOf(stored);
    if (proof === null || !isToRecipients(row)) return null;
    const isSignedAnew = view.payments.some(
      ({ plan, signature }) => signature !== null && proofOf(readPlan(plan))?.words === proof.words,
    );
    if (!isSignedAnew && (await storage.vouchings(deposit.id)).length === 0) return null;
    const maker = await ledger.markedBy(deposit.id, keys.seed(deposit, proof.words));
    return maker === null || maker === "foreign" ? null : maker.signature;
  }

  /**
   * A payment signed here is concluded once enough endpoints show its landing, and if endpoints differ, one endpoint is
   * behind or wrong: neither is a case for an operator.
   */
  async #meetLostMarker(inHand: PaymentInHand, maker: string): Outcome {
    const outcome = await this.#outcomes.read(inHand);
    if (outcome.kind !== "unmade") return { event: { type: "MARKED" } };
    const [own] = await this.#with.storage.attempts([maker]);
    if (outcome.death === "agreed" && own === undefined) return this.#hold(inHand.deposit, UNKNOWN_SPENDING);
    throw new Error(`${maker} has made the marker of payment ${inHand.row.id}, and no marker stands`);
  }

  /** Whether rent has risen since the plan lent the address what it must hold; another plan lends more. */
  async #lendsTooLittle({ movements }: StoredPlan): Promise<boolean> {
    const loan = movements.find(({ kind }) => kind === "loan");
    return loan !== undefined && BigInt(loan.amount) < (await this.#with.ledger.rentMinimum(0));
  }
}

/**
 * Writes the price of a swap: the amounts are decided when the swap is planned, and a later plan had a different price.
 */
function pricedWrites(
  { kind, transactionId, legs }: PaymentRecord,
  indexes: readonly number[],
): readonly PaymentWrite[] {
  if (kind !== "swap") return [];
  return indexes.flatMap((index, position) => {
    const amount = legs[position]?.amount;
    return amount === undefined
      ? []
      : [{ table: "recipients" as const, id: `${transactionId}:${index}`, set: { amount } }];
  });
}

function refuseHeld({ id, heldReason }: DepositRecord): void {
  if (heldReason !== null) throw new Error(`deposit address ${id} is held: ${heldReason}`);
}

/**
 * Whether trying the same again is of no use. What an address cannot pay now it may be able to pay later, but a refund or
 * a sweep of what it held a moment ago is better planned again.
 */
function isFinal({ kind }: TransactionFault, row: PaymentRecord): boolean {
  // Anybody can make a mint, and take back at any time that it moves: what an operator sends on holds nothing else up.
  if (kind === "other") return isReturn(row);
  if (kind === "source") return row.kind !== "payout" && row.kind !== "swap" && row.kind !== "plan";
  return kind === "payee";
}

/** An empty sponsor is filled up, a blockhash becomes known; what else stands in the way only an operator can see. */
function isNobodysToMend({ kind }: TransactionFault): boolean {
  return kind === "source" || kind === "other";
}

/** Nothing was tried, and the same plan is refused at every time. */
const AGAINST_MARKERS: PaymentFault = { kind: "other", move: null };
/** Nothing was tried: the order has to find another price. */
const OUTDATED: PaymentFault = { kind: "other", move: null };
/** The source has too little for the payment, for example because the loan is below the rent that is due. */
const UNPAYABLE: PaymentFault = { kind: "source", move: null };
const SUPERSEDED: PaymentFault = { kind: "superseded", move: null };

function onlyRangeError(error: unknown): RangeError {
  if (error instanceof RangeError) return error;
  throw error;
}

function faultOf({ kind, move }: TransactionFault): PaymentFault {
  return { kind, move };
}
