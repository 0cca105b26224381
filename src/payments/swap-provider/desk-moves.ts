/** The two legs of a swap with the desk: the transfer to the desk, and the desk's payment. */
import type { Address } from "../../address.ts";
import type { Move } from "../../ledger/routing.ts";
import { ledgerMint } from "../assets/assets.ts";
import type { DirectSwap, WalletSwap } from "./swap-provider.ts";

type Transfer = Extract<Move, { does: "transfer" }>;

/** In wallet mode both legs are between the sender and the desk, and the sender pays for its own token account. */
export function walletMoves(desk: Address, swap: WalletSwap): readonly Transfer[] {
  const { sender, reference, ...rest } = swap;
  const [given, paid] = directMoves(desk, { ...rest, from: sender, to: sender, accountPayer: sender });
  return [{ ...given, reference }, paid];
}

/**
 * In private mode the payee is paid straight by the desk, as the last move. The creation of its token account is always
 * there: an account that was handed over to a thief makes the whole fail.
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
