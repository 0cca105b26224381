/** The sums of a deposit address in one asset: what the database has on record, and what the chain shows besides. */
import type { Movement } from "../../../machines/private-messages.ts";
import type { EntryRecord } from "../tables/deposits.ts";

/**
 * Base units of one asset. Always: deposits + loans + arriving + lending − payouts − refunds − fees − dust − repayments −
 * leaving − vouched − missing = held.
 */
export interface AddressTally {
  /** On record: what came in. */
  readonly deposits: bigint;
  readonly loans: bigint;
  /** On record: what went out. */
  readonly payouts: bigint;
  readonly refunds: bigint;
  readonly fees: bigint;
  readonly dust: bigint;
  readonly repayments: bigint;
  /** On the chain, and not on record yet: money that was sent to the address. */
  readonly arriving: bigint;
  /** On the chain, and not on record yet: money moved out by our payments, and lent to them by the sponsor. */
  readonly leaving: bigint;
  readonly lending: bigint;
  /** Gone by transactions that are on no record here, and that an operator has vouched for. */
  readonly vouched: bigint;
  /** Gone, and nothing explains where: the only sum that must be 0. */
  readonly missing: bigint;
  /** The amount that the chain shows. */
  readonly held: bigint;
}

type Recorded = "deposits" | "loans" | "payouts" | "refunds" | "fees" | "dust" | "repayments";

const SUM_OF: Readonly<Record<EntryRecord["kind"], Recorded>> = {
  deposit: "deposits",
  loan: "loans",
  payout: "payouts",
  refund: "refunds",
  fee: "fees",
  dust: "dust",
  repayment: "repayments",
};

export const EMPTY_TALLY: AddressTally = {
  deposits: 0n,
  loans: 0n,
  payouts: 0n,
  refunds: 0n,
  fees: 0n,
  dust: 0n,
  repayments: 0n,
  arriving: 0n,
  leaving: 0n,
  lending: 0n,
  vouched: 0n,
  missing: 0n,
  held: 0n,
};

interface Shown {
  /** The movements of payments that have landed and that have no line yet. */
  readonly unrecorded: readonly Pick<Movement, "kind" | "amount">[];
  /** Base units. */
  readonly held: bigint;
  /** Whether an operator has vouched for a transaction of the address that is on no record here. */
  readonly isVouchedFor: boolean;
}

/**
 * Compares the lines of one address and asset with what the chain shows. More than the sum of both can only have come from
 * outside; less is missing, or vouched for.
 */
export function tallyOf(
  entries: readonly Pick<EntryRecord, "kind" | "amount">[],
  { unrecorded, held, isVouchedFor }: Shown,
): AddressTally {
  const sums = { ...sumsOf(entries), held };
  for (const { kind, amount } of unrecorded) sums[kind === "loan" ? "lending" : "leaving"] += BigInt(amount);
  const surplus = held - (recorded(sums) + sums.lending - sums.leaving);
  if (surplus >= 0n) return { ...sums, arriving: surplus };
  return { ...sums, [isVouchedFor ? "vouched" : "missing"]: -surplus };
}

/** The balance that these entries alone lead to. */
export function recordedIn(entries: readonly Pick<EntryRecord, "kind" | "amount">[]): bigint {
  return recorded(sumsOf(entries));
}

function sumsOf(entries: readonly Pick<EntryRecord, "kind" | "amount">[]): AddressTally {
  const sums = { ...EMPTY_TALLY };
  for (const { kind, amount } of entries) sums[SUM_OF[kind]] += amount;
  return sums;
}

function recorded(tally: Pick<AddressTally, Recorded>): bigint {
  const { deposits, loans, payouts, refunds, fees, dust, repayments } = tally;
  return deposits + loans - payouts - refunds - fees - dust - repayments;
}

export function addTallies(one: AddressTally, other: AddressTally): AddressTally {
  const sums = { ...one };
  for (const key of Object.keys(one) as (keyof AddressTally)[]) sums[key] += other[key];
  return sums;
}
