/** Token amounts as nodes write them, and the token balances of a transaction's accounts. */
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
  const uiAmountString = decimalString(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

function decimalString(amount: bigint, decimals: number): string {
  if (decimals === 0) return amount.toString();
  const digits = amount.toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  const whole = digits.slice(0, -decimals);
  return fraction === "" ? whole : `${whole}.${fraction}`;
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
    const { mint: mintAddress, owner, program, amount } = token;
    return [
      {
        accountIndex,
        mint: mintAddress,
        owner,
        programId: program,
        uiTokenAmount: uiTokenAmount(amount, decimals),
      },
    ];
  });
}
