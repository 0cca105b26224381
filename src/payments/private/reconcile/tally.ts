/** The sums of an order's address in one asset: what the database has on record, and what the chain shows. */

/**
 * Base units of one asset. Always: deposits + arriving − payouts − fees − refunds − leaving − writtenOff − missing = held.
 * Loans and the rent of accounts are the sponsor's, and are in no sum.
 */
export interface AddressTally {
  /** The deposited sum. */
  readonly deposits: bigint;
  /** Deposits that are not on record yet. */
  readonly arriving: bigint;
  /** The recipients' amounts by markers; of a swap what went in. */
  readonly payouts: bigint;
  /** The treasury's amount by markers. */
  readonly fees: bigint;
  /** Refunds, and sums that a person has redirected, with their costs. */
  readonly refunds: bigint;
  /** Sums of our own transfers that are not on record yet. */
  readonly leaving: bigint;
  /** The sum that a person has concluded to be lost. */
  readonly writtenOff: bigint;
  /** Gone, and nothing explains where: the only sum that must be 0. */
  readonly missing: bigint;
  /** The amount that the chain shows. */
  readonly held: bigint;
}

export const EMPTY_TALLY: AddressTally = {
  deposits: 0n,
  arriving: 0n,
  payouts: 0n,
  fees: 0n,
  refunds: 0n,
  leaving: 0n,
  writtenOff: 0n,
  missing: 0n,
  held: 0n,
};

export function addTallies(one: AddressTally, other: AddressTally): AddressTally {
  const sums = { ...one };
  for (const name of Object.keys(one) as (keyof AddressTally)[]) sums[name] += other[name];
  return sums;
}
