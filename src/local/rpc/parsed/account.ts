/** `jsonParsed`: accounts in words, where the owner is a program whose accounts are known. */
import { LOOKUP_TABLE_PROGRAM, TOKEN_2022_PROGRAM } from "../../../solana/programs.ts";
import type { AccountState } from "../../account-state.ts";
import type { View } from "../../chain-state.ts";
import { displayedAmount } from "../../displayed-amount.ts";
import { readExtensions } from "../../token-extensions.ts";
import { readMint, readMultisig, readTokenAccount } from "../../token-layout.ts";
import type { Parsed } from "./layout.ts";
import { parsedLookupTable } from "./lookup-table.ts";

/** The account in words; `undefined` for all others, which are answered as base64. */
export function parsedAccount(account: AccountState, view: View): object | undefined {
  const parsed =
    account.owner === LOOKUP_TABLE_PROGRAM
      ? parsedLookupTable(account)
      : (parsedTokenAccount(account, view) ?? parsedMint(account) ?? parsedMultisig(account));
  return parsed && { program: programName(account.owner), parsed, space: account.data.length };
}

function programName(owner: string): string {
  if (owner === LOOKUP_TABLE_PROGRAM) return "address-lookup-table";
  return owner === TOKEN_2022_PROGRAM ? "spl-token-2022" : "spl-token";
}

function parsedTokenAccount(account: AccountState, view: View): Parsed | undefined {
  const token = readTokenAccount(account);
  if (token === undefined) return undefined;
  const mint = view.account(token.mint);
  const shown = (amount: bigint): unknown => displayedAmount(amount, mint, view.time);
  const tokenAmount = shown(token.amount);
  if (tokenAmount === undefined) return undefined;
  const { delegate, nativeReserve, closeAuthority } = token;
  const info = {
    isNative: nativeReserve !== null,
    mint: token.mint,
    owner: token.owner,
    state: token.state,
    tokenAmount,
    ...(delegate === null ? {} : { delegate, delegatedAmount: shown(token.delegatedAmount) }),
    ...(nativeReserve === null ? {} : { rentExemptReserve: shown(nativeReserve) }),
    ...(closeAuthority === null ? {} : { closeAuthority }),
    ...extensions(account),
  };
  return { type: "account", info };
}

function parsedMint(account: AccountState): Parsed | undefined {
  const mint = readMint(account);
  if (mint === undefined) return undefined;
  const { mintAuthority, supply, decimals, isInitialized, freezeAuthority } = mint;
  const info = { mintAuthority, supply: supply.toString(), decimals, isInitialized, freezeAuthority };
  return { type: "mint", info: { ...info, ...extensions(account) } };
}

function parsedMultisig(account: AccountState): Parsed | undefined {
  const multisig = readMultisig(account);
  return multisig && { type: "multisig", info: multisig };
}

function extensions(account: AccountState): { extensions?: unknown } {
  const found = readExtensions(account);
  return found.length === 0 ? {} : { extensions: found };
}
