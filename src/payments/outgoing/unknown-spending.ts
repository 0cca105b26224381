/**
 * Looks for payments of a deposit address that this database does not know: if it has any, this database is an old
 * copy, and must sign nothing more.
 */
import { commitEach, commitOne } from "../../../storage/decided.ts";
import { untoldEvent } from "../notice-writes.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { LifeRecord } from "../tables/database.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { uncheckedTime } from "../life-sign-loop.ts";
import type { OutgoingTransaction } from "../../ledger/routing.ts";

/** The reason of a hold when the address has signed a transaction that is in no row. */
export const UNKNOWN_SPENDING = "unknown_spending";

/**
 * The reason of a hold when the nodes lack the history of a gap, so that nobody can prove that the address has not
 * paid.
 */
export const MISSING_HISTORY = "missing_history";

/** The reasons to hold an address that may have paid without this database. */
export type SpendingReason = typeof UNKNOWN_SPENDING | typeof MISSING_HISTORY;

interface SpendingParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
}

/**
 * Signatures of successful transactions that the address signed, but that are no attempt of this database and that no
 * operator has explained (this makes restoring a backup safe). Markers alone would not be enough: a sweep removes the
 * markers. When thousands of transactions name the address, the list is incomplete, and an existing marker decides.
 */
export async function unknownSpending(
  { storage, ledger }: SpendingParts,
  address: Address,
): Promise<readonly string[]> {
  const { transactions } = await ledger.signedBy(address);
  return unknownAmong(storage, address, transactions);
}

/**
 * Unknown spending among transactions listed now or before: a node that omits a payment has not undone the payment.
 */
async function unknownAmong(
  storage: PaymentStorage,
  address: string,
  listed: Evidence<readonly OutgoingTransaction[]>,
): Promise<readonly string[]> {
  const before = await storage.unknownSignatures(address);
  const { unknown } = await explainedOf(storage, [...new Set([...carriedOut(listed), ...before])]);
  await keepUnknown(
    storage,
    address,
    unknown.filter((signature) => !before.includes(signature)),
  );
  return unknown;
}

/** Stores unknown signatures of an address one by one: another process may store the same signature at this moment. */
export async function keepUnknown(
  storage: PaymentStorage,
  address: string,
  signatures: readonly string[],
): Promise<void> {
  if (signatures.length === 0) return;
  await commitEach(
    storage,
    signatures.map((id) => ({ writes: [{ table: "unknownSignatures", insert: { id, address } }] })),
  );
}

/** The doubt that lies in what nodes list alone, whether or not they have the history of every gap. */
export async function listedDoubt(asked: SpendingParts, address: Address): Promise<SpendingReason | null> {
  return (await unknownSpending(asked, address)).length > 0 ? UNKNOWN_SPENDING : null;
}

/** The signatures of an address, and how far they are believed. */
interface Spending extends OtherCopySpending {
  /** All transactions of the address that nodes list. */
  readonly transactions: Evidence<readonly OutgoingTransaction[]>;
  /** False after a gap in the lives of the database of which too few nodes have the history: then there may be more. */
  readonly isProven: boolean;
}

/**
 * Reads what an address has signed. The row of the address notes each gap that the nodes' history has cleared, so that later
 * reads need no history of that gap.
 */
export async function spendingOf(
  { storage, ledger }: SpendingParts,
  deposit: DepositRecord,
  lives: readonly LifeRecord[],
): Promise<Spending> {
  const time = uncheckedTime(lives, deposit);
  const { transactions, isProven } =
    time === null
      ? { ...(await ledger.signedBy(deposit.id)), isProven: true }
      : await ledger.signedWithin(deposit.id, time);
  const unknown = await unknownAmong(storage, deposit.id, transactions);
  const { explained } = await spendingElsewhere(storage, transactions);
  if (time !== null && isProven && unknown.length === 0) {
    await commitOne(storage, { writes: [checked(deposit, time.to)] });
  }
  return { transactions, isProven, unknown, explained };
}

/** The reason to doubt that an address has paid only payments of this database; null without a doubt. */
export async function spendingReason(
  asked: SpendingParts,
  deposit: DepositRecord,
): Promise<SpendingReason | null> {
  const { unknown, isProven } = await spendingOf(asked, deposit, await asked.storage.lives());
  if (unknown.length > 0) return UNKNOWN_SPENDING;
  return isProven ? null : MISSING_HISTORY;
}

/** From now on no look asks what the address has signed until then: it was checked, or an operator has vouched for it. */
export function checked({ id }: DepositRecord, checkedTo: number): PaymentWrite {
  return { table: "deposits", id, set: { checkedTo } };
}

/** Transactions of an address that moved money and were not signed here, vouched for by an operator or not. */
interface OtherCopySpending {
  readonly unknown: readonly string[];
  readonly explained: readonly string[];
}

export async function spendingElsewhere(
  storage: PaymentStorage,
  transactions: Evidence<readonly OutgoingTransaction[]>,
): Promise<OtherCopySpending> {
  return explainedOf(storage, carriedOut(transactions));
}

function carriedOut(transactions: readonly OutgoingTransaction[]): readonly string[] {
  return transactions.filter(({ error }) => error === null).map(({ signature }) => signature);
}

async function explainedOf(
  storage: PaymentStorage,
  signatures: readonly string[],
): Promise<OtherCopySpending> {
  const known = new Set((await storage.attempts(signatures)).map(({ id }) => id));
  const elsewhere = signatures.filter((signature) => !known.has(signature));
  const facts = await Promise.all(elsewhere.map((signature) => storage.fact(explanationOf(signature))));
  return {
    unknown: elsewhere.filter((_, index) => facts[index] === null),
    explained: elsewhere.filter((_, index) => facts[index] !== null),
  };
}

/** The fact by which an operator vouches for a signature that this database does not know. */
export function explanationOf(signature: string): string {
  return `explained:${signature}`;
}

/** The reason to think that an address has paid without us, as far as this process knows; null without a hint. */
export type SpendingCheck = (address: string) => Promise<SpendingReason | null>;

/** The most remembered signatures; asking again about a forgotten signature costs only a call. */
const MAX_REMEMBERED = 10_000;

/**
 * Answers whether an address may have paid without this database, asking the chain once for each address and process.
 * Once is enough: only a restore makes a database old, no process survives a restore of its database, and everything
 * signed later is in the database.
 *
 * The question is asked before this process signs for an address, ends its wait for a deposit, or lets its order be
 * cancelled; planning payouts and refunds asks the chain again each time. So every address of a restored copy is
 * checked before a payment could be made twice, or a caller could be told that no recipient was paid, and a hundred
 * thousand unused addresses do not slow the start. `reconcile` checks all addresses.
 */
export function spendingCheck(asked: SpendingParts): SpendingCheck {
  const clean = new Set<string>();
  /** The payouts of a payroll are signed at once, and ask at once. */
  const underWay = new Map<string, Promise<SpendingReason | null>>();

  const look = async (address: string): Promise<SpendingReason | null> => {
    const doubt = await spendingReason(asked, await storedDeposit(asked, address));
    if (doubt !== null) return doubt;
    if (clean.size >= MAX_REMEMBERED) clean.clear();
    clean.add(address);
    return null;
  };

  return async (address) => {
    if (clean.has(address)) return null;
    const looking = underWay.get(address) ?? look(address).finally(() => underWay.delete(address));
    underWay.set(address, looking);
    return looking;
  };
}

/** Freezes an address: nothing is signed for it, and nothing decided, until an operator has looked. */
export async function holdAddress(storage: PaymentStorage, address: string, reason: string): Promise<void> {
  const deposit = await storedDeposit({ storage }, address);
  // Refused where another has just held it for the same reason.
  await commitOne(storage, { writes: holdWrites(deposit, reason) });
}

/** The writes of a hold. */
export function holdWrites(
  { id, transactionId, version }: DepositRecord,
  reason: string,
): readonly PaymentWrite[] {
  return [
    { table: "deposits", id, set: { heldReason: reason } },
    untoldEvent(transactionId, { event: "transaction.held", by: `${reason}@${version}` }),
  ];
}

/** Throws, and holds the address, when it may have paid without us: an old copy of a database pays no one. */
export async function refuseUnknownSpending(asked: SpendingParts, address: Address): Promise<void> {
  const doubt = await spendingReason(asked, await storedDeposit(asked, address));
  if (doubt === null) return;
  await holdAddress(asked.storage, address, doubt);
  throw new Error(`deposit address ${address} is held: ${doubt}`);
}

async function storedDeposit(
  { storage }: Pick<SpendingParts, "storage">,
  address: string,
): Promise<DepositRecord> {
  const [deposit] = await storage.deposits([address]);
  if (deposit === undefined) throw new Error(`deposit address ${address} is not stored`);
  return deposit;
}
