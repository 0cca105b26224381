/** Explains the error of a plan that would leave an account with less than the rent minimum. */
import type { TransactionPlan } from "../../ledger/routing.ts";
import type { UnclearFault, MoveFault } from "./verdict.ts";

/** `address` is the account that the chain named, undefined when it is none of the plan's. */
export function explainPoorAccount(
  { feePayer, moves }: TransactionPlan,
  address: string | undefined,
): MoveFault | UnclearFault {
  if (address === feePayer) return { kind: "fee_payer", move: null };
  // A payer pays for a token account only where its owner closed it after it was priced.
  const charged = indices(
    moves,
    (move) => move.does === "transfer" && move.accountPayer === address && move.from === address,
  );
  const [only, another] = charged;
  if (another !== undefined) return { doubt: "which_payee", moves: charged };
  if (only !== undefined) return { kind: "payee", move: only };
  const isSponsor = moves.some(
    (move) =>
      ((move.does === "mark" || move.does === "replace") && move.payer === address) ||
      (move.does === "transfer" && move.accountPayer === address),
  );
  if (isSponsor) return { kind: "fee_payer", move: null };
  // Spending comes before receiving: an address that is lent its rent minimum does both.
  const spending = indices(moves, (move) => {
    return move.does === "transfer" && move.mint === null && move.from === address;
  }).at(-1);
  if (spending !== undefined) return { kind: "source", move: spending };
  const [receiving] = indices(moves, (move) => {
    if (move.does === "transfer") return move.to === address && move.mint === null;
    return (move.does === "unmark" || move.does === "close") && move.to === address;
  });
  return receiving === undefined ? { kind: "other", move: null } : { kind: "payee", move: receiving };
}

function indices<T>(items: readonly T[], holds: (item: T) => boolean): number[] {
  return items.flatMap((item, index) => (holds(item) ? [index] : []));
}
