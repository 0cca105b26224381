/** The parts of a transaction that an order signs: each move with the role by which its errors are judged. */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import type { Move, MoveOf } from "../../../ledger/routing.ts";
import type { Token } from "../../frame/assets/assets.ts";

/** The part of a move. `member`: the fee or a recipient. `input` and `desk`: a swap's, to its desk and from it to the payee. */
export type Role =
  | "marker"
  | "member"
  | "input"
  | "desk"
  | "loan"
  | "sender"
  | "receiver"
  | "cost"
  | "stray"
  | "close"
  | "empty";

/** A move and its part. */
export interface Leg {
  readonly role: Role;
  /** The place in the chunk that a `member` or `desk` pays; null for all others. */
  readonly place: number | null;
  readonly move: Move;
}

/** An asset with the decimals that a transfer names. */
export type Asset = Pick<Token, "mint" | "decimals">;

/** SOL, which every look shows beside the tokens. */
export const SOL: Asset = { mint: SOL_MINT, decimals: 9 };

/** The payer, the receiver and the amount of a move; `accountPayer` pays for a missing token account of the receiver. */
interface Payment extends Pick<MoveOf<"transfer">, "from" | "to" | "amount"> {
  readonly accountPayer?: Address;
  readonly place?: number;
}

/** The leg of a transfer; an account is made for tokens alone. */
export function pay(role: Role, { mint, decimals }: Asset, { place, ...payment }: Payment): Leg {
  const token = mint === SOL_MINT ? null : mint;
  const accountPayer = token === null ? null : (payment.accountPayer ?? null);
  return {
    role,
    place: place ?? null,
    move: { does: "transfer", mint: token, decimals, ...payment, accountPayer },
  };
}

/** The legs without transfers of nothing. */
export function withoutNothing(legs: readonly Leg[]): readonly Leg[] {
  return legs.filter(({ move }) => move.does !== "transfer" || move.amount > 0n);
}
