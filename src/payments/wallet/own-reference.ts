/** The reference key of a transaction of our own making, by which the chain lists it besides its accounts. */
import { addressOf, type Address } from "../../address.ts";
import type { TransactionPlan } from "../../ledger/routing.ts";
import { splitTransaction } from "../../ledger/wire-format.ts";

/** The key in base58 when these signed bytes carry it; null when the caller built a transaction without it. */
export function carriedReference(bytes: Uint8Array, reference: Uint8Array): Address | null {
  const message = splitTransaction(bytes)?.message ?? new Uint8Array();
  return Buffer.from(message).includes(Buffer.from(reference)) ? addressOf(reference) : null;
}

/** The key of a plan's first transfer that has one; null for a plan without, or that only its provider knows. */
export function plannedReference(plan: TransactionPlan | null): Address | null {
  const references = plan?.moves.map((move) => (move.does === "transfer" ? move.reference : undefined)) ?? [];
  return references.find((reference) => reference !== undefined) ?? null;
}
