/** Chooses what is signed for a transfer now: legs, costs for the sponsor, and their part of the commit. */
import { SOL_MINT } from "../../core/address.ts";
import type { TransactionPlan } from "../../ledger/routing.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import type { PrivateWrite } from "./private-storage.ts";
import type { AttemptLeg } from "../frame/tables/attempts.ts";
import type { Leg, Role } from "./protocol/legs.ts";
import type { OrderTerms } from "./protocol/terms.ts";
import type { TransferOutcome } from "./transfer-outcomes.ts";

/** The legs to sign. */
export interface ChosenTransfer {
  readonly legs: readonly Leg[];
  /** The amounts that its landing takes from the order and returns to the sponsor. */
  readonly booked: readonly AttemptLeg[];
  /** Signers besides the sponsor and the order's address. */
  readonly cosigners: readonly Signer[];
  /** The new reservation of a swap's desk. */
  readonly reserved: readonly string[];
  /** Further parts of the commit that stores the signed bytes. */
  readonly writes: (signature: string) => readonly PrivateWrite[];
}

/** The bytes to sign, or the event in their place. */
export type Choice = { readonly chosen: ChosenTransfer } | { readonly instead: TransferOutcome };

/** The stored roles of legs out of the order's address; the others move none of its money. */
const STORED: Readonly<Partial<Record<Role, AttemptLeg["as"]>>> = {
  member: "payee",
  input: "payee",
  desk: "payee",
  receiver: "payee",
  sender: "sender",
  cost: "cost",
};

/** A transfer of these legs that sponsor and order sign alone. */
export function choiceOf({ treasury }: OrderTerms, legs: readonly Leg[]): ChosenTransfer {
  const booked = legs.flatMap(({ role, move }): readonly AttemptLeg[] => {
    const as = STORED[role];
    if (as === undefined || move.does !== "transfer") return [];
    const { mint, to, amount } = move;
    return [{ mint: mint ?? SOL_MINT, to, amount, as: role === "member" && to === treasury ? "fee" : as }];
  });
  return { legs, booked, cosigners: [], reserved: [], writes: () => [] };
}

export function planOf({ sponsor }: OrderTerms, legs: readonly Leg[]): TransactionPlan {
  return { feePayer: sponsor, moves: legs.map(({ move }) => move) };
}
