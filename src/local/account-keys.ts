/** The accounts a transaction names, those from lookup tables included, in the order of its account indices. */
import { AddressLookupTableAccount } from "@solana/web3.js";
import type { AccountState } from "./account-state.ts";
import type { DecodedTransaction } from "./transaction-bytes.ts";

/** An account of a transaction. */
interface AccountKey {
  readonly address: string;
  readonly isWritable: boolean;
}

/** All accounts of a transaction. */
export interface AccountKeys {
  readonly all: readonly AccountKey[];
  /** Keys from lookup tables. */
  readonly loaded: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  /** The tables themselves. */
  readonly lookupTables: readonly string[];
}

/**
 * Resolves a transaction's accounts. A table that is missing or too short contributes nothing: such a transaction
 * does not run, and litesvm says why.
 */
export function accountKeysOf(
  { transaction, staticKeys }: DecodedTransaction,
  account: (address: string) => AccountState | null,
): AccountKeys {
  const { message } = transaction;
  const writable: string[] = [];
  const readonly: string[] = [];
  const lookupTables: string[] = [];
  for (const { accountKey, writableIndexes, readonlyIndexes } of message.addressTableLookups) {
    const table = accountKey.toBase58();
    const addresses = addressesIn(account(table));
    const pick = (indices: readonly number[]): string[] => indices.flatMap((index) => addresses[index] ?? []);
    lookupTables.push(table);
    writable.push(...pick(writableIndexes));
    readonly.push(...pick(readonlyIndexes));
  }
  const all = [
    ...staticKeys.map((address, index) => ({ address, isWritable: message.isAccountWritable(index) })),
    ...writable.map((address) => ({ address, isWritable: true })),
    ...readonly.map((address) => ({ address, isWritable: false })),
  ];
  return { all, loaded: { writable, readonly }, lookupTables };
}

function addressesIn(table: AccountState | null): string[] {
  if (table === null) return [];
  try {
    return AddressLookupTableAccount.deserialize(table.data).addresses.map((key) => key.toBase58());
  } catch {
    return [];
  }
}
