/** Reads the outcome of a payment from markers on the chain, which alone decide. */
import type { RivalPayment } from "../../../machines/payment.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Clock } from "../../runtime.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { MarkersReading } from "../../ledger/routing.ts";
import type { Assets } from "../assets/assets.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { signaturesIn } from "./closing.ts";
import { OtherCopyReader, type OtherCopyPayment } from "./other-copy-payment.ts";
import { isRecovery } from "./plans/plan-settlement.ts";
import { proofOf, readPlan, type Proof, type StoredPlan } from "./plans/stored-plan.ts";
import { deathOf, type DeathEvidence } from "./signing-anew.ts";
import { undisputed } from "./plans/order-markers.ts";

/** A payment, the order it belongs to, and the address it is paid from. */
export interface OrderPayment {
  readonly row: PaymentRecord;
  readonly deposit: DepositRecord;
  readonly view: TransactionView;
}

/** Time and signature of a payment's landing, as far as known. */
interface Landing {
  readonly signature: string | null;
  readonly slot: number;
  /** Unix seconds. */
  readonly blockTime: number | null;
}

/**
 * `made` with `elsewhere`: another copy of the database has paid, with that payment. `unmade`: not landed; `death`
 * tells whether the newest bytes can still land. `unknown`: a payment that this database does not know made the marker.
 * `foreclosed`: an operator has vouched for such an unknown payment: this payment can never land.
 */
type PaymentOutcome =
  | ({ readonly kind: "made"; readonly elsewhere?: OtherCopyPayment } & Landing)
  | ({ readonly kind: "overtaken" } & RivalPayment)
  | { readonly kind: "unmade"; readonly death: DeathEvidence }
  | { readonly kind: "unknown" }
  | { readonly kind: "foreclosed" };

/** A payment under the same marker, and what it would have left on the chain. */
interface Candidate {
  readonly row: PaymentRecord;
  readonly plan: StoredPlan;
  readonly proof: Proof;
}

/** Kinds whose words do not say the amount: which of several payments landed is known by its signature. */
const UNPRICED: ReadonlySet<PaymentRecord["kind"]> = new Set(["swap", "refund"]);

interface OutcomeParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly keys: DepositKeys;
  readonly clock: Clock;
  readonly assets: Assets;
}

/** Reads outcomes. A marker that the witnesses disagree about is no outcome: reading rejects, and is tried again. */
export class PaymentOutcomeReader {
  readonly #storage: PaymentStorage;
  readonly #ledger: Ledger;
  readonly #keys: DepositKeys;
  readonly #clock: Clock;
  readonly #elsewhere: OtherCopyReader;

  constructor({ storage, ledger, keys, clock, assets }: OutcomeParts) {
    this.#storage = storage;
    this.#ledger = ledger;
    this.#keys = keys;
    this.#clock = clock;
    this.#elsewhere = new OtherCopyReader({ storage, ledger, keys, assets });
  }

  /** Rejects with `LedgerUnavailable` where too few witnesses answer. */
  async read(question: OrderPayment): Promise<PaymentOutcome> {
    const { row, deposit, view } = question;
    const plan = readPlan(row.plan);
    const proof = proofOf(plan);
    if (proof === null) return this.#readDrain(question, plan);
    const candidates = candidatesFor(proof.words, view);
    const plans = candidates.flatMap(({ proof: { planWords } }) => (planWords === null ? [] : [planWords]));
    const told = await this.#told(deposit, [proof.words, ...plans]);
    const death = await this.#deathOf(row, told);
    if (told.markers[0] === "disputed" && death === "presumed") return { kind: "unmade", death };
    const { markers, ...reading } = undisputed(deposit.id, told);
    const [marker, ...planMarkers] = markers;
    if (marker === undefined || marker === "unmade") {
      const landed = death === "agreed" ? await this.#landedBefore(row, plan) : null;
      return landed === null ? { kind: "unmade", death } : { kind: "made", ...landed, slot: reading.slot };
    }
    const isReplacedBy = (planWords: string): boolean =>
      this.#markerAddress(deposit, planWords) === marker.delegate ||
      planMarkers[plans.indexOf(planWords)] !== "unmade";
    const replacing = candidates.filter(
      (each) => each.proof.planWords !== null && isReplacedBy(each.proof.planWords),
    );
    const replacedBy = (await this.#newestSigned(replacing)) ?? replacing.at(-1);
    if (replacedBy !== undefined) return this.#landedAs(question, replacedBy, reading);
    const { words } = proof;
    const { delegate } = marker;
    if (delegate !== null) return this.#paidElsewhere(question, { words, delegate }, reading);
    const paid = candidates.filter((each) => each.proof.planWords === null);
    const found = await this.#whichLanded(deposit, paid);
    if (found !== null) return this.#landedAs(question, found, reading);
    return this.#paidElsewhere(question, { words, delegate }, reading);
  }

  /** Whether the plan that a payment depends on was replaced: then the payment can never land. */
  async isAbandoned({ deposit, view }: Omit<OrderPayment, "row">, planWords: string): Promise<boolean> {
    const plan = view.payments.find((each) => proofOf(readPlan(each.plan))?.planWords === planWords);
    const words = plan === undefined ? undefined : proofOf(readPlan(plan.plan))?.words;
    if (words === undefined) throw new Error(`no payment of ${deposit.id} makes the plan it should follow`);
    const [marker, planMarker] = undisputed(
      deposit.id,
      await this.#told(deposit, [words, planWords]),
    ).markers;
    return planMarker === "unmade" && marker !== "unmade";
  }

  /**
   * Finds the payment of another copy of this database under these words. A payment signed here may have made a marker
   * that names no plan; no payment signed here has made a marker that names an unknown plan.
   */
  async #paidElsewhere(
    question: OrderPayment,
    { words, delegate }: { readonly words: string; readonly delegate: Address | null },
    reading: Moment,
  ): Promise<PaymentOutcome> {
    const candidates = candidatesFor(words, question.view);
    const mayBeOurs = delegate === null && candidates.some(({ row }) => row.signature !== null);
    if (mayBeOurs) return { kind: "unknown" };
    const found = await this.#elsewhere.read({ ...question, words, delegate });
    if (found === null) return { kind: "unknown" };
    if (found === "foreclosed") return { kind: "foreclosed" };
    const { signature } = found;
    const blockTime = (await this.#blockTimeOf(signature)) ?? reading.blockTime;
    return { kind: "made", elsewhere: found, signature, slot: reading.slot, blockTime };
  }

  /**
   * The outcome of a drain, which only moves money to its proper place: landed when the markers that it closes are
   * gone.
   */
  async #readDrain({ row, deposit }: OrderPayment, plan: StoredPlan): Promise<PaymentOutcome> {
    const closed = plan.moves.flatMap((move) => (move.does === "unmark" ? [move.words] : []));
    const told = await this.#told(deposit, closed);
    const death = await this.#deathOf(row, { ...told, unmadeAt: [] });
    const { markers, ...reading } = undisputed(deposit.id, told);
    const isGone = closed.length > 0 && markers.every((marker) => marker === "unmade");
    const [receipt] = row.signature === null ? [] : await this.#ledger.receipts([row.signature]);
    // What closes nothing is planned on the next look at the address, however it ended.
    const isOver = closed.length === 0 && (death === "agreed" || receipt?.error === null);
    if (!isGone && !isOver) return { kind: "unmade", death };
    return { kind: "made", ...(await this.#landing(row, reading)) };
  }

  async #told(deposit: DepositRecord, words: readonly string[]): Promise<Evidence<MarkersReading>> {
    const seeds = words.map((each) => this.#keys.seed(deposit, each));
    return this.#ledger.markers(deposit.id, seeds);
  }

  #markerAddress(deposit: DepositRecord, words: string): Address {
    return this.#ledger.markerAddress(deposit.id, this.#keys.seed(deposit, words));
  }

  /**
   * The fate of the newest bytes, by the heights of a reading whose first marker is the marker that the bytes make.
   */
  async #deathOf(
    { signature }: PaymentRecord,
    { blockHeight, markers, unmadeAt }: Evidence<Omit<MarkersReading, keyof Moment>>,
  ): Promise<DeathEvidence> {
    const [attempt] = signature === null ? [] : await this.#storage.attempts([signature]);
    if (attempt === undefined) return "agreed";
    const agreed: number = markers[0] === "disputed" ? -1 : blockHeight;
    const highest: number = unmadeAt[0] ?? -1;
    return deathOf(attempt, { agreed, highest }, this.#clock.now());
  }

  /**
   * The payment that landed, among payments under one marker without a plan. An earlier payment was dead before the
   * next was signed, so the newest signed payment landed, unless enough nodes know better. Words with amounts say who
   * was paid what.
   */
  async #whichLanded(deposit: DepositRecord, paid: readonly Candidate[]): Promise<Candidate | null> {
    const signed = paid.filter(({ row }) => row.signature !== null);
    const newest = await this.#newestSigned(paid);
    const isPriced = paid.every(({ row }) => !UNPRICED.has(row.kind));
    if (isPriced && signed.length <= 1) return newest ?? paid.at(-1) ?? null;
    const attempts = signed.flatMap((each) => signaturesOf(each).map((signature) => ({ each, signature })));
    const receipts = await this.#ledger.receipts(attempts.map(({ signature }) => signature));
    const seen = attempts.find((_, index) => receipts[index]?.error === null);
    if (seen !== undefined || newest === null) return seen?.each ?? null;
    const maker = await this.#makerOf(deposit, newest.proof.words);
    if (maker === null) return newest;
    return attempts.find(({ signature }) => signature === maker)?.each ?? (isPriced ? newest : null);
  }

  /** The payment signed last, by the chain's heights: rows are dated by clocks, and a clock may have been set back. */
  async #newestSigned(candidates: readonly Candidate[]): Promise<Candidate | null> {
    const signed = candidates.filter(({ row }) => row.signature !== null);
    if (signed.length <= 1) return signed[0] ?? null;
    const attempts = await this.#storage.attempts(signed.map(({ row }) => row.signature ?? ""));
    const lives = new Map(attempts.map((each) => [each.id, each.lastValidBlockHeight]));
    const lastHeight = ({ row }: Candidate): number => lives.get(row.signature ?? "") ?? 0;
    return signed.reduce((one, other) => (lastHeight(other) >= lastHeight(one) ? other : one));
  }

  async #landedAs(
    { row, deposit, view }: OrderPayment,
    found: Candidate,
    reading: Moment,
  ): Promise<PaymentOutcome> {
    const landing = await this.#landing(found.row, reading, () => this.#makerOf(deposit, found.proof.words));
    if (found.row.id === row.id) return { kind: "made", ...landing };
    const { movements, indexes } = found.plan;
    const unpaid = unpaidChange(row, indexes, view);
    return { kind: "overtaken", payment: found.row.id, indexes, unpaid, movements, ...landing };
  }

  /**
   * The marker says that it landed. By which signature and when is told where a node has the history. The slot is that of
   * the reading: balances from it on show the payment, even where a receipt does not.
   */
  async #landing(
    { signature }: PaymentRecord,
    { slot, blockTime }: Moment,
    makerOf: () => Promise<string | null> = async () => null,
  ): Promise<Landing> {
    const own = await this.#blockTimeOf(signature);
    if (own !== null) return { signature, slot, blockTime: own };
    const maker = await makerOf();
    return { signature: maker ?? signature, slot, blockTime: (await this.#blockTimeOf(maker)) ?? blockTime };
  }

  /**
   * The version of this payment that landed although no marker stands: another copy of this database has closed the marker.
   * Null where too few endpoints have its receipt.
   */
  async #landedBefore(
    { signature: newest }: PaymentRecord,
    plan: StoredPlan,
  ): Promise<Omit<Landing, "slot"> | null> {
    const versions = signaturesIn(plan, newest);
    const receipts = versions.length === 0 ? [] : await this.#ledger.receipts(versions);
    const found = receipts.findIndex((receipt) => receipt?.error === null);
    const [signature, receipt] = [versions[found], receipts[found]];
    return signature === undefined || !receipt ? null : { signature, blockTime: receipt.blockTime };
  }

  /** Null where no node has the receipt of a transaction that succeeded. */
  async #blockTimeOf(signature: string | null): Promise<number | null> {
    if (signature === null) return null;
    const [receipt] = await this.#ledger.receipts([signature]);
    return receipt?.error === null ? receipt.blockTime : null;
  }

  /** Null where no node lists it. */
  async #makerOf(deposit: DepositRecord, words: string): Promise<string | null> {
    const made = await this.#ledger.markedBy(deposit.id, this.#keys.seed(deposit, words));
    return made === null || made === "foreign" ? null : made.signature;
  }
}

function signaturesOf({ row, plan }: Candidate): readonly string[] {
  return signaturesIn(plan, row.signature);
}

type Moment = Evidence<Pick<MarkersReading, "slot" | "blockTime">>;

function candidatesFor(words: string, { payments }: TransactionView): readonly Candidate[] {
  return payments.flatMap((row) => {
    const plan = readPlan(row.plan);
    const proof = proofOf(plan);
    return proof?.words === words ? [{ row, plan, proof }] : [];
  });
}

/** The change of the order's number of unpaid recipients, when `paid` were paid in place of this payment. */
function unpaidChange(
  row: PaymentRecord,
  paid: readonly number[],
  { recipients, payments }: TransactionView,
): number {
  const { indexes, leaves, leftOut = [] } = readPlan(row.plan);
  const isPaid = new Set(paid);
  const started = new Set(payments.map(({ mark }) => mark));
  const hasLeaves = (leaves ?? []).some(({ words }) => started.has(words));
  const isPlan = row.kind === "plan" && !isRecovery(row);
  if (isPlan && !hasLeaves) {
    const all = [...(leaves ?? []).flatMap((leaf) => leaf.indexes), ...leftOut];
    return all.filter((index) => !isPaid.has(index)).length;
  }
  if (isPlan) return -leftOut.filter((index) => isPaid.has(index)).length;
  const own = new Set(indexes);
  const lost = indexes.filter((index) => !isPaid.has(index)).length;
  const recovered = recipients.filter(({ index }) => isPaid.has(index) && !own.has(index)).length;
  return lost - recovered;
}
