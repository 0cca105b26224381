/** The two legs of a swap with the desk: the transfer to the desk, and the desk's payment. */
import type { Address } from "../../address.ts";
import type { Move } from "../../ledger/routing.ts";
import { ledgerMint } from "../assets/assets.ts";
import type { DirectSwap, WalletSwap } from "./swap-provider.ts";

type Transfer = Extract<Move, { does: "transfer" }>;

/** Moves of a swap in wallet mode: sender and desk pay each other, and the sender pays for a new token account. */
export function walletMoves(desk: Address, swap: WalletSwap): readonly Transfer[] {
  const { sender, reference, ...rest } = swap;
  const [given, paid] = directMoves(desk, { ...rest, from: sender, to: sender, accountPayer: sender });
  return [{ ...given, reference }, paid];
}

/**
 * Moves of a swap in private mode: the desk pays the payee directly, as the last move. The creation of the payee's
 * token account is always included, so that an account given to a thief makes the whole transaction fail.
 */
export function directMoves(
  desk: Address,
  { give, get, inputAmount, outputAmount, from, to, accountPayer }: DirectSwap,
): readonly [Transfer, Transfer] {
  return [
    {
      does: "transfer",
      mint: ledgerMint(give),
      decimals: give.decimals,
      from,
      to: desk,
      amount: inputAmount,
      accountPayer: null,
    },
    {
      does: "transfer",
      mint: ledgerMint(get),
      decimals: get.decimals,
      from: desk,
      to,
      amount: outputAmount,
      accountPayer: ledgerMint(get) === null ? null : accountPayer,
    },
  ];
}
