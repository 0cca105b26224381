/** Chooses what is signed for a transfer now: its legs, what they cost the sponsor, and what belongs into their commit. */
import { SOL_MINT } from "../../core/address.ts";
import type { TransactionPlan } from "../../ledger/routing.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import type { PrivateWrite } from "./private-storage.ts";
import type { AttemptLeg } from "../frame/tables/attempts.ts";
import type { Leg, Role } from "./protocol/legs.ts";
import type { OrderTerms } from "./protocol/terms.ts";
import type { TransferOutcome } from "./transfer-outcomes.ts";

/** What is signed. */
export interface ChosenTransfer {
  readonly legs: readonly Leg[];
  /** What its landing takes out of the order's own money, and what it gives back of the sponsor's. */
  readonly booked: readonly AttemptLeg[];
  /** Signers besides the sponsor and the order's address. */
  readonly cosigners: readonly Signer[];
  /** What a swap's desk has set aside from now on. */
  readonly reserved: readonly string[];
  /** Further parts of the commit that stores the signed bytes. */
  readonly writes: (signature: string) => readonly PrivateWrite[];
}

/** What is signed, or what happens in place of it. */
export type Choice = { readonly chosen: ChosenTransfer } | { readonly instead: TransferOutcome };

/** What the roles of legs out of the order's address are stored as; the others move none of its money. */
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
