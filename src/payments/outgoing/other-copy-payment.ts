/**
 * Reads payments that another copy of this database has made under a marker, once an operator has vouched for the
 * transaction.
 */
import type { DepositRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import { knownAddress, SOL_MINT, type Address } from "../../address.ts";
import { EndpointsDifferError, type Ledger } from "../../ledger/ledger.ts";
import type { Assets } from "../assets/assets.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { isToRecipients } from "./declined.ts";
import { isRecovery } from "./plans/plan-settlement.ts";
import { type PossiblePlan, plannedElsewhere } from "./plans/possible-plans.ts";
import { proofOf, readPlan, writePlan, type StoredMove, type StoredPlan } from "./plans/stored-plan.ts";
import { isExcess, ORDER_WORDS, refundWords } from "./plans/words.ts";
import { explanationOf } from "./unknown-spending.ts";

/** A payment that this database never signed, although its marker exists. */
interface UnsignedPayment {
  readonly row: PaymentRecord;
  readonly deposit: DepositRecord;
  readonly view: TransactionView;
  /** The words of the marker, and the marker of the plan that replaced them on the chain. */
  readonly words: string;
  readonly delegate: Address | null;
}

/** A transaction of another copy, and the changes that make this payment's row match the transaction. */
export interface OtherCopyPayment {
  /** Null for a plan whose transaction no node lists: the marker itself names the plan. */
  readonly signature: string | null;
  readonly mint: string;
  readonly legs: PaymentRecord["legs"];
  readonly writes: readonly PaymentWrite[];
  /** Entries that the landing adds to the ledger of the address. */
  readonly movements: StoredPlan["movements"];
}

/** The payment of a transaction to one address. */
interface Paid {
  readonly mint: string;
  readonly amount: bigint;
  /** Lamports that the sponsor lent to the deposit address in the same transaction. */
  readonly lent: bigint;
}

interface OtherCopyReaderParts {
  readonly storage: Pick<PaymentStorage, "fact">;
  readonly ledger: Pick<Ledger, "markers" | "markedBy" | "markerAddress" | "changesOf">;
  readonly keys: DepositKeys;
  readonly assets: Assets;
}

/** The fact by which an operator names the transaction that made a marker, where no node lists it. */
export function namedMakerOf(marker: Address): string {
  return `maker:${marker}`;
}

/** Reads what other copies have paid: plans by what their markers name, everything else by the word of an operator. */
export class OtherCopyReader {
  readonly #with: OtherCopyReaderParts;

  constructor(parts: OtherCopyReaderParts) {
    this.#with = parts;
  }

  /**
   * `foreclosed`: an operator vouches for the transaction, but this payment could not have become the transaction, and
   * can never land. A refund of excess is followed by a refund under new words; any other refund failed because its
   * marker was already made. The same holds for a payment to recipients when the other copy has refunded the order, or
   * planned it anew; a plan becomes the plan of the other copy.
   */
  async read(payment: UnsignedPayment): Promise<OtherCopyPayment | "foreclosed" | null> {
    const { row, deposit, words, delegate } = payment;
    const signature = await this.#vouchedMaker(deposit, words);
    const plan = delegate === null ? null : await plannedElsewhere(this.#with, { ...payment, delegate });
    if (plan !== null) return row.kind === "plan" ? planned(row, plan, signature) : "foreclosed";
    if (signature === null) return null;
    if (row.kind === "swap" && delegate === null) return this.#swap(payment, signature);
    const isOwnRefund = row.kind === "refund" || isRecovery(row);
    if (!isOwnRefund && delegate === null) return null;
    const refund = await this.#refund(payment, signature);
    if (!isOwnRefund) return refund === null ? null : "foreclosed";
    return refund ?? (delegate === null ? "foreclosed" : null);
  }

  /**
   * Whether another copy has paid under these words, whose marker stands and is replaced by nothing. Where this database
   * has a payment of its own under them, reading the marker makes that payment paid.
   */
  async hasPaid(deposit: DepositRecord, words: string, payments: readonly PaymentRecord[]): Promise<boolean> {
    const own = payments.flatMap(({ plan, signature }) => {
      const proof = proofOf(readPlan(plan));
      return proof?.words === words ? [{ ...proof, signature }] : [];
    });
    if (own.some(({ planWords, signature }) => planWords === null || signature !== null)) return false;
    return (await this.#vouchedMaker(deposit, words)) !== null;
  }

  /**
   * Whether another copy has paid recipients of an order for whom nothing was planned here: the order's own marker stands,
   * and names no plan, or one of payouts; a refund has replaced it where it names something else. A payment that is planned
   * for them meets the marker and tells who was paid. Throws `EndpointsDifferError` where they differ about the marker.
   */
  async hasPaidRecipients(deposit: DepositRecord, view: TransactionView): Promise<boolean> {
    if (view.payments.some(isToRecipients)) return false;
    const { ledger, keys } = this.#with;
    const words = ORDER_WORDS;
    const [marker = "unmade"] = (await ledger.markers(deposit.id, [keys.seed(deposit, words)])).markers;
    if (marker === "unmade") return false;
    if (marker === "disputed") {
      throw new EndpointsDifferError(`the marker of deposit address ${deposit.id}`, []);
    }
    const { delegate } = marker;
    if (delegate === null) return true;
    return (await plannedElsewhere(this.#with, { deposit, view, words, delegate })) !== null;
  }

  async #vouchedMaker(deposit: DepositRecord, words: string): Promise<string | null> {
    const maker = await this.#makerOf(deposit, words);
    return maker !== null && (await this.#isVouched(maker)) ? maker : null;
  }

  async #isVouched(signature: string): Promise<boolean> {
    return (await this.#with.storage.fact(explanationOf(signature))) !== null;
  }

  /** An operator has read the content of the named one; nodes list what any of them lists. */
  async #makerOf(deposit: DepositRecord, words: string): Promise<string | null> {
    const { storage, ledger, keys } = this.#with;
    const seed = keys.seed(deposit, words);
    const named = await storage.fact(namedMakerOf(ledger.markerAddress(deposit.id, seed)));
    const listed = named === null ? await ledger.markedBy(deposit.id, seed) : null;
    return listed === null || listed === "foreign" ? named : listed.signature;
  }

  /** Every swap of an order gives the same and gets what it got at its price, which the chain tells. */
  async #swap({ row, deposit, view }: UnsignedPayment, signature: string): Promise<OtherCopyPayment | null> {
    const [payee] = view.recipients;
    const { movements } = readPlan(row.plan);
    const given = movements.find(({ kind }) => kind === "payout");
    if (payee === undefined || given === undefined) return null;
    const changes = await this.#with.ledger.changesOf(signature, [
      { owner: deposit.id, mint: mintOnChain(given.mint) },
      { owner: payee.address, mint: mintOnChain(row.mint) },
    ]);
    const [spent = 0n, amount = 0n] = changes ?? [];
    // Lamports that the sponsor lends the address come in with the same transaction.
    if (spent >= 0n || amount <= 0n) return null;
    const { id, transactionId, mint } = row;
    const legs = row.legs.map((leg) => ({ ...leg, amount }));
    const writes: readonly PaymentWrite[] = [
      { table: "payments", id, set: { legs } },
      { table: "recipients", id: `${transactionId}:0`, set: { amount } },
    ];
    return { signature, mint, legs, writes, movements };
  }

  /** The address of the plan's marker names mint, amount and receiver, so the marker proves this refund and no other. */
  async #refund(payment: UnsignedPayment, signature: string): Promise<OtherCopyPayment | null> {
    const { row, deposit, view, words, delegate } = payment;
    for (const to of new Set([...row.legs.map(({ address }) => address), view.transaction.sender])) {
      const found = (await this.#paidTo(to, deposit, signature)).find(
        (paid) => delegate === this.#delegateOf(payment, { ...paid, to }),
      );
      if (found === undefined) continue;
      const { mint, amount } = found;
      const plan = refundedBy(readPlan(row.plan), { ...found, words, to });
      const legs = [{ address: to, amount }];
      const set = { kind: "refund", mint, legs, plan: writePlan(plan) } as const;
      const writes: readonly PaymentWrite[] = [{ table: "payments", id: row.id, set }];
      return { signature, mint, legs, writes, movements: plan.movements };
    }
    return null;
  }

  #delegateOf(
    { deposit, words }: UnsignedPayment,
    refund: { readonly mint: string; readonly amount: bigint; readonly to: string },
  ): Address | null {
    const { ledger, keys } = this.#with;
    if (isExcess(words)) return null;
    return ledger.markerAddress(deposit.id, keys.seed(deposit, refundWords(words, refund)));
  }

  /** Amounts of each asset that the transaction moved from the deposit address to the receiver. */
  async #paidTo(to: Address, { id }: DepositRecord, signature: string): Promise<readonly Paid[]> {
    const { ledger, assets } = this.#with;
    const holders = assets.tokens.flatMap(({ mint }) => [
      { owner: id, mint: mintOnChain(mint) },
      { owner: to, mint: mintOnChain(mint) },
    ]);
    const changes = (await ledger.changesOf(signature, holders)) ?? [];
    return assets.tokens.flatMap(({ mint }, index): Paid[] => {
      const [change = 0n, amount = 0n] = changes.slice(2 * index, 2 * index + 2);
      const lent = change + amount;
      const isWhole = mint === SOL_MINT ? lent >= 0n : lent === 0n;
      return amount > 0n && isWhole ? [{ mint, amount, lent }] : [];
    });
  }
}

/** Rewrites this plan as the plan of the other copy: its unpaid recipients are paid here. */
function planned(row: PaymentRecord, found: PossiblePlan, signature: string | null): OtherCopyPayment {
  const own = readPlan(row.plan);
  const sponsored = new Set((own.leaves ?? []).flatMap((leaf) => leaf.sponsored));
  const leaves = found.leaves.map((leaf) => ({
    ...leaf,
    sponsored: leaf.indexes.filter((index) => sponsored.has(index)),
  }));
  const { planWords, leftOut } = found;
  const moves = own.moves.map((move) => (move.does === "replace" ? { ...move, planWords } : move));
  const set = { plan: writePlan({ ...own, moves, leaves, leftOut }) };
  const writes: readonly PaymentWrite[] = [{ table: "payments", id: row.id, set }];
  return { signature, mint: row.mint, legs: row.legs, writes, movements: [] };
}

/**
 * Rewrites this plan as the refund that landed: the refund's markers, and its entries in the ledger of the address.
 */
function refundedBy(
  plan: StoredPlan,
  refund: Paid & { readonly words: string; readonly to: string },
): StoredPlan {
  const { mint, amount, lent, words } = refund;
  const moves = plan.moves.flatMap((move): StoredMove[] => {
    if (move.does === "transfer") return [];
    return move.does === "replace" ? [{ ...move, planWords: refundWords(words, refund) }] : [move];
  });
  const loan = lent === 0n ? [] : [{ kind: "loan" as const, mint, amount: String(lent) }];
  return { ...plan, moves, movements: [...loan, { kind: "refund", mint, amount: String(amount) }] };
}

/** The mint as the ledger names it: null for SOL. */
function mintOnChain(mint: string): Address | null {
  return mint === SOL_MINT ? null : knownAddress(mint);
}
