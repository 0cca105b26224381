/** Methods about accounts of any kind. */
import bs58 from "bs58";
import { encodeAccount } from "./account-data.ts";
import { readAddress, readCount, type RpcCall, type RpcHandler, withContext } from "./call.ts";
import { invalidParams } from "./errors.ts";

/** agave's limit for accounts in one call. */
const MAX_ACCOUNTS = 100;

/** agave's limit for filters in one call. */
const MAX_FILTERS = 4;

function getBalance(call: RpcCall): unknown {
  const view = call.view(call.config(1));
  return withContext(view.slot, view.account(call.address(0))?.lamports ?? 0n);
}

function getAccountInfo(call: RpcCall): unknown {
  const config = call.config(1);
  const view = call.view(config);
  return withContext(view.slot, encodeAccount(view.account(call.address(0)), config, view));
}

function getMultipleAccounts(call: RpcCall): unknown {
  const addresses = call.list(0, MAX_ACCOUNTS).map(readAddress);
  const config = call.config(1);
  const view = call.view(config);
  return withContext(
    view.slot,
    addresses.map((address) => encodeAccount(view.account(address), config, view)),
  );
}

function getProgramAccounts(call: RpcCall): unknown {
  const program = call.address(0);
  const config = call.config(1);
  const view = call.view(config);
  const matches = readFilters(config["filters"]);
  const accounts = call.chain.accountsOwnedBy(program, view).flatMap((pubkey) => {
    const account = view.account(pubkey);
    if (account === null || !matches(account.data)) return [];
    return [{ pubkey, account: encodeAccount(account, config, view) }];
  });
  return config["withContext"] === true ? withContext(view.slot, accounts) : accounts;
}

type DataFilter = (data: Uint8Array) => boolean;

/** The condition that the `filters` of a call put to an account's data. Throws -32602. */
function readFilters(value: unknown): DataFilter {
  if (value === undefined || value === null) return () => true;
  if (!Array.isArray(value)) throw invalidParams("Invalid params: filters are a sequence.");
  if (value.length > MAX_FILTERS) throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`);
  const filters = value.map(readFilter);
  return (data) => filters.every((matches) => matches(data));
}

/** `{ dataSize }` or `{ memcmp }`, as callers write them. */
interface DataFilterJson {
  readonly dataSize?: unknown;
  readonly memcmp?: { readonly offset?: unknown; readonly bytes?: unknown; readonly encoding?: unknown };
}

function readFilter(value: unknown): DataFilter {
  const filter = value as DataFilterJson | null;
  if (filter?.dataSize !== undefined) {
    const size = readCount(filter.dataSize);
    return (data) => data.length === size;
  }
  const memcmp = filter?.memcmp;
  if (typeof memcmp?.bytes !== "string" || memcmp.bytes.length > 256) {
    throw invalidParams("Invalid params: this chain knows the filters dataSize and memcmp.");
  }
  const offset = readCount(memcmp.offset);
  const bytes = memcmp.encoding === "base64" ? Buffer.from(memcmp.bytes, "base64") : base58(memcmp.bytes);
  return (data) => bytes.equals(data.subarray(offset, offset + bytes.length));
}

function base58(text: string): Buffer {
  const bytes = bs58.decodeUnsafe(text);
  if (bytes === undefined) throw invalidParams("Invalid param: bs58 encoded data is invalid");
  return Buffer.from(bytes);
}

/** The methods of this file by name. */
export const accountMethods: Readonly<Record<string, RpcHandler>> = {
  getBalance,
  getAccountInfo,
  getMultipleAccounts,
  getProgramAccounts,
};
