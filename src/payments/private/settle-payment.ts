/** Settles a payment that another copy of this database made and no node lists, by the transaction that an operator names. */
import { commitOne } from "../../../storage/decided.ts";
import type { FactRecord } from "../tables/database.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Address } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { Assets } from "../assets/assets.ts";
import { namedMakerOf } from "../outgoing/other-copy-payment.ts";
import { proofOf, readPlan } from "../outgoing/plans/stored-plan.ts";
import { PaymentOutcomeReader, type OrderPayment } from "../outgoing/read-outcome.ts";
import { explanationOf } from "../outgoing/unknown-spending.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";

/** A payment of a private order that was settled by the transaction of another copy. */
export interface SettledPayment {
  readonly transactionId: string;
  readonly signature: string;
  /** The kind of the planned payment. */
  readonly kind: PaymentRecord["kind"];
  /** The transaction's payments by the chain, in whole units; empty where only the payment's place is taken. */
  readonly paid: readonly { readonly address: string; readonly mint: string; readonly amount: string }[];
}

/** The payment may not be settled in this way; the message says why. */
export class SettlePaymentRefused extends Error {
  override readonly name = "SettlePaymentRefused";
}

/** The operator's order to settle a payment, and further writes of its commit. */
export interface SettlePaymentRequest {
  readonly transactionId: string;
  readonly signature: string;
  /** Read before the payments are: of several who decide at once about the address one does. */
  readonly guardOf: (address: string) => Promise<PaymentWrite>;
  readonly writesFor: (settled: SettledPayment) => readonly PaymentWrite[];
}

interface SettlingParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly keys: DepositKeys;
  readonly clock: Clock;
}

/** A payment that may still be made here, and the marker of it. */
interface WaitingPayment {
  readonly question: OrderPayment;
  readonly marker: Address;
}

/**
 * The transaction must have made the marker of a waiting payment, and must have paid as that payment can be rewritten;
 * as many endpoints as must agree tell both alike. The payment is concluded by a service at work; the address stays
 * held until it is released. Throws `TRANSACTION_NOT_FOUND` for what is no private transaction, `SettlePaymentRefused`,
 * and `LedgerUnavailable` where too few endpoints answer, or endpoints differ.
 */
export async function settlePayment(
  parts: SettlingParts,
  { transactionId, signature, guardOf, writesFor }: SettlePaymentRequest,
): Promise<SettledPayment> {
  const { storage } = parts;
  const view = await storage.transaction(transactionId);
  const address = view?.transaction.depositAddress ?? "";
  const guard = await guardOf(address);
  const [deposit] = await storage.deposits([address]);
  if (view === null || deposit === undefined) {
    throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  }
  try {
    const found = await madeBy(parts, waitingPayments(parts, view, deposit), signature);
    const settled = await settledAs(parts, found, signature);
    const facts = await newFacts(parts, factsOf(found, signature));
    const writes = [guard, ...writesFor(settled), ...facts];
    const stored = await commitOne(storage, { writes });
    if (!stored.ok) throw new SettlePaymentRefused("somebody else has just decided about its address");
    return settled;
  } catch (error) {
    if (!(error instanceof SettlePaymentRefused)) throw error;
    throw new SettlePaymentRefused(
      `${signature} settles no payment of transaction ${transactionId}: ${error.message}`,
    );
  }
}

function waitingPayments(
  { ledger, keys }: SettlingParts,
  view: TransactionView,
  deposit: DepositRecord,
): readonly WaitingPayment[] {
  return view.payments.flatMap((row) => {
    const proof = proofOf(readPlan(row.plan));
    if (row.status === "finalized" || row.status === "failed" || proof === null) return [];
    const marker = ledger.markerAddress(deposit.id, keys.seed(deposit, proof.words));
    return [{ question: { row, deposit, view }, marker }];
  });
}

/** The payment whose marker the transaction has made: it put the rent there. A sweep takes lamports out of markers. */
async function madeBy(
  { storage, ledger }: SettlingParts,
  waiting: readonly WaitingPayment[],
  signature: string,
): Promise<WaitingPayment> {
  const [own] = await storage.attempts([signature]);
  if (own !== undefined) {
    throw new SettlePaymentRefused("this database has signed it, and settles it by itself");
  }
  if (waiting.length === 0) throw new SettlePaymentRefused("no payment of it waits");
  const holders = waiting.map(({ marker }) => ({ owner: marker, mint: null }));
  const changes = await ledger.changesOf(signature, holders);
  if (changes === null) throw new SettlePaymentRefused("fewer endpoints than must agree have it");
  const made = waiting.find((_, index) => (changes[index] ?? 0n) > 0n);
  if (made === undefined) throw new SettlePaymentRefused("it has made no marker of a payment that waits");
  return made;
}

/** Settles by the reading that also concludes the payment later, as if the operator's word were stored already. */
async function settledAs(
  parts: SettlingParts,
  waiting: WaitingPayment,
  signature: string,
): Promise<SettledPayment> {
  const { storage, assets } = parts;
  const { row } = waiting.question;
  const told = new Map(factsOf(waiting, signature).map(({ id, value }) => [id, value]));
  const fact = async (id: string): Promise<string | null> => told.get(id) ?? storage.fact(id);
  const outcomes = new PaymentOutcomeReader({ ...parts, storage: { ...storage, fact } });
  const outcome = await outcomes.read(waiting.question);
  const elsewhere = outcome.kind === "made" ? outcome.elsewhere : undefined;
  if (elsewhere === undefined && outcome.kind !== "foreclosed") {
    throw new SettlePaymentRefused("what it paid is not what a payment that waits can become");
  }
  const { mint, legs } = elsewhere ?? { mint: row.mint, legs: [] };
  const paid = legs.map(({ address, amount }) => {
    return { address, mint, amount: formatAmount(amount, assets.named(mint).decimals) };
  });
  return { transactionId: row.transactionId, signature, kind: row.kind, paid };
}

/** The operator vouches for the transaction, and names it as the maker of the marker. */
function factsOf({ question: { row }, marker }: WaitingPayment, signature: string): readonly FactRecord[] {
  return [
    { id: namedMakerOf(marker), value: signature },
    { id: explanationOf(signature), value: row.transactionId },
  ];
}

async function newFacts(
  { storage }: SettlingParts,
  facts: readonly FactRecord[],
): Promise<readonly PaymentWrite[]> {
  const known = await Promise.all(facts.map(({ id }) => storage.fact(id)));
  return facts.filter((_, index) => known[index] === null).map((insert) => ({ table: "facts", insert }));
}
