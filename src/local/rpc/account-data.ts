/** Accounts in the encodings a caller may ask for. */
import bs58 from "bs58";
import { AddressLookupTableAccount } from "@solana/web3.js";
import type { AccountState } from "../account-state.ts";
import type { View } from "../chain-state.ts";
import { type RpcCallOptions, readCount } from "./call.ts";
import { RPC_CODE, RpcError, invalidParams } from "./errors.ts";
import { LOOKUP_TABLE_PROGRAM, TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import { uiTokenAmount } from "../token-balances.ts";
import { readMint, readTokenAccount } from "../token-layout.ts";

/** agave's limit for base58 account data. */
const MAX_BASE58_BYTES = 128;

/** The rent epoch of every account written since 2023, which pays no rent. */
const RENT_EXEMPT_EPOCH = 18_446_744_073_709_551_615n;

/** An account as nodes answer it, `null` when absent. `view` serves to look up the mint of a token account. */
export function encodeAccount(account: AccountState | null, config: RpcCallOptions, view: View): unknown {
  if (account === null) return null;
  return {
    lamports: account.lamports,
    data: encodeData(account, config, view),
    owner: account.owner,
    executable: account.executable,
    rentEpoch: RENT_EXEMPT_EPOCH,
    space: account.data.length,
  };
}

function encodeData(account: AccountState, config: RpcCallOptions, view: View): unknown {
  const encoding = config["encoding"] ?? "binary";
  switch (encoding) {
    case "jsonParsed": {
      const parsed = parsedAccount(account, view);
      return parsed ?? [base64(account.data), "base64"];
    }
    case "base64":
      return [base64(sliced(account.data, config)), "base64"];
    case "base58":
      return [base58(sliced(account.data, config)), "base58"];
    case "binary":
      return base58(sliced(account.data, config));
    default:
      throw invalidParams(
        `Invalid params: this chain does not write the encoding ${JSON.stringify(encoding)}.`,
      );
  }
}

function sliced(data: Uint8Array, config: RpcCallOptions): Uint8Array {
  const slice = config["dataSlice"] as { offset?: unknown; length?: unknown } | null | undefined;
  if (slice === undefined || slice === null) return data;
  const offset = readCount(slice.offset);
  return data.subarray(offset, offset + readCount(slice.length));
}

function base64(data: Uint8Array): string {
  return Buffer.from(data).toString("base64");
}

function base58(data: Uint8Array): string {
  if (data.length <= MAX_BASE58_BYTES) return bs58.encode(data);
  throw new RpcError(
    RPC_CODE.invalidRequest,
    `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
  );
}

/** An account in its parsed form. */
interface Parsed {
  readonly type: "account" | "mint" | "lookupTable";
  readonly info: object;
}

/** The `jsonParsed` form of a token account, a mint or a lookup table; `undefined` for any other account. */
function parsedAccount(account: AccountState, view: View): object | undefined {
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
