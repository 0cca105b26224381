/** The bounds of one transaction: compute units and their price, addresses, instructions, and so recipients. */
import type { Address } from "../core/address.ts";

/** The most addresses that a message of version 1 may name: as many as the chain loads for a transaction. */
export const MAX_ADDRESSES = 64;
/** The most instructions that the chain runs for a transaction, counting those that programs call. */
export const MAX_INSTRUCTIONS = 64;

// Sender, System program and reference; for tokens also the sender's account, the mint, and the programs of tokens and of
// their accounts. Then the recipient, who for tokens has an account besides.
const ADDRESSES = { sol: { always: 3, each: 1 }, token: { always: 7, each: 2 } };
// Beside the transfer of tokens stands the creation of the account: five instructions, or seven if somebody has sent lamports
// to the address before: anybody can.
const RUN_FOR_EACH = { sol: 1, token: 1 + 7 };

/** See `Ledger.mostRecipients`. */
export function mostRecipients(mint: Address | null): number {
  const kind = mint === null ? "sol" : "token";
  const { always, each } = ADDRESSES[kind];
  return Math.min(
    Math.floor((MAX_ADDRESSES - always) / each),
    Math.floor(MAX_INSTRUCTIONS / RUN_FOR_EACH[kind]),
  );
}

/** Compute units that the runtime allows one transaction at most, and grants where more is asked for. */
export const MAX_COMPUTE_UNITS = 1_400_000;

/** The numbers of the ComputeBudget instructions that set the limit and the price. */
export const SET_COMPUTE_UNIT_LIMIT = 2;
/** See above. */
export const SET_COMPUTE_UNIT_PRICE = 3;

const MICRO_LAMPORTS = 1_000_000n;

/** The priority fee in lamports, rounded up, of a transaction that asks for `units` at this price each. */
export function priorityFeeOf(units: number, microLamports: bigint): bigint {
  const charged = BigInt(Math.min(units, MAX_COMPUTE_UNITS));
  return (charged * microLamports + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
}
