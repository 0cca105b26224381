/** Token amounts as nodes write them, and the token balances of a transaction's accounts. */
import { formatAmount } from "../core/amount.ts";
import type { AccountState } from "./account-state.ts";
import { readMint, readTokenAccount } from "./token-layout.ts";

/** An amount in base units together with its decimal form. */
interface UiTokenAmount {
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

/** The token balance of one account in a transaction. */
export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly uiTokenAmount: UiTokenAmount;
}

/** Writes base units the way nodes do. `uiAmount` is the float they warn about; nothing may count with it. */
export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const uiAmountString = formatAmount(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** The token accounts among a transaction's accounts, with what they held. `mint` looks a mint's account up. */
export function tokenBalances(
  accounts: readonly (AccountState | null)[],
  mint: (address: string) => AccountState | null,
): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = readTokenAccount(account);
    if (token === undefined) return [];
    const decimals = readMint(mint(token.mint))?.decimals;
    if (decimals === undefined) return [];
    const { owner, program: programId, amount } = token;
    return [
      { accountIndex, mint: token.mint, owner, programId, uiTokenAmount: uiTokenAmount(amount, decimals) },
    ];
  });
}
