/**
 * `jsonParsed`: mints, token accounts and lookup tables in words. All others are answered in base64, as nodes do with
 * accounts of programs that they have no words for; so are instructions, with their accounts and bytes.
 */
import { AddressLookupTableAccount } from "@solana/web3.js";
import { LOOKUP_TABLE_PROGRAM, TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import type { AccountState } from "../account-state.ts";
import type { View } from "../chain-state.ts";
import { uiTokenAmount } from "../token-balances.ts";
import { readMint, readTokenAccount } from "../token-layout.ts";

/** An account in its parsed form. */
interface Parsed {
  readonly type: "account" | "mint" | "lookupTable";
  readonly info: object;
}

/** The `jsonParsed` form of a token account, a mint or a lookup table; `undefined` for any other account. */
export function parsedAccount(account: AccountState, view: View): object | undefined {
  const parsed =
    account.owner === LOOKUP_TABLE_PROGRAM
      ? parsedLookupTable(account)
      : (parsedTokenAccount(account, view) ?? parsedMint(account));
  return parsed && { program: programName(account.owner), parsed, space: account.data.length };
}

function programName(owner: string): string {
  if (owner === LOOKUP_TABLE_PROGRAM) return "address-lookup-table";
  return owner === TOKEN_2022_PROGRAM ? "spl-token-2022" : "spl-token";
}

function parsedTokenAccount(account: AccountState, view: View): Parsed | undefined {
  const token = readTokenAccount(account);
  if (token === undefined) return undefined;
  const mint = readMint(view.account(token.mint));
  if (mint === undefined) return undefined;
  const shown = (amount: bigint): unknown => uiTokenAmount(amount, mint.decimals);
  const { delegate, nativeReserve, closeAuthority } = token;
  const info = {
    isNative: nativeReserve !== null,
    mint: token.mint,
    owner: token.owner,
    state: token.state,
    tokenAmount: shown(token.amount),
    ...(delegate === null ? {} : { delegate, delegatedAmount: shown(token.delegatedAmount) }),
    ...(nativeReserve === null ? {} : { rentExemptReserve: shown(nativeReserve) }),
    ...(closeAuthority === null ? {} : { closeAuthority }),
  };
  return { type: "account", info };
}

function parsedMint(account: AccountState): Parsed | undefined {
  const mint = readMint(account);
  if (mint === undefined) return undefined;
  const { mintAuthority, supply, decimals, isInitialized, freezeAuthority } = mint;
  return {
    type: "mint",
    info: { mintAuthority, supply: supply.toString(), decimals, isInitialized, freezeAuthority },
  };
}

/** The lookup table in `account`, if any. Amounts beyond 2^53 are written as strings, as nodes do. */
function parsedLookupTable({ data }: AccountState): Parsed | undefined {
  try {
    const table = AddressLookupTableAccount.deserialize(data);
    const { deactivationSlot, lastExtendedSlot, lastExtendedSlotStartIndex, authority, addresses } = table;
    return {
      type: "lookupTable",
      info: {
        deactivationSlot: deactivationSlot.toString(),
        lastExtendedSlot: lastExtendedSlot.toString(),
        lastExtendedSlotStartIndex,
        ...(authority === undefined ? {} : { authority: authority.toBase58() }),
        addresses: addresses.map((address) => address.toBase58()),
      },
    };
  } catch {
    return undefined;
  }
}
