/** A message's instructions with every index replaced by the address it stands for, lookup tables included. */
import { AddressLookupTableAccount, type MessageAccountKeys } from "@solana/web3.js";
import { agree } from "./agree.ts";
import type { Nodes } from "./ask.ts";
import type { DecodedTransaction } from "./decode-transaction.ts";
import { LOOKUP_TABLE_PROGRAM } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";
import type { Account } from "./rpc/account.ts";

/** One instruction in plain words: base58 addresses and the bytes for the program. */
export interface ResolvedInstruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/**
 * Resolves all instructions; null when a lookup table does not exist, is being closed, is too short, or brings an
 * account that is there already. Tables are read at finalized, of enough endpoints: entries are only ever appended, so what
 * is finalized cannot change under a signed transaction.
 */
export async function resolveInstructions(
  nodes: Nodes,
  { message }: Pick<DecodedTransaction, "message">,
): Promise<ResolvedInstruction[] | null> {
  const tables = await readLookupTables(nodes, message.addressTableLookups);
  if (tables === null) return null;
  let keys: MessageAccountKeys;
  try {
    keys =
      message.version === 0
        ? message.getAccountKeys({ addressLookupTableAccounts: tables })
        : message.getAccountKeys();
  } catch {
    return null;
  }
  // Each is spelled once: a thousand indices may refer to the same few.
  const addresses = keys
    .keySegments()
    .flat()
    .map((key) => key.toBase58());
  // The chain refuses to load an account twice, so that no second index may stand for, say, the sender.
  if (new Set(addresses).size !== addresses.length) return null;
  const address = (index: number): string => {
    const found = addresses[index];
    if (found === undefined) {
      throw new RangeError(`account index ${index} of a decoded message is out of range`);
    }
    return found;
  };
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    program: address(programIdIndex),
    accounts: accountKeyIndexes.map(address),
    data,
  }));
}

// A header, and 256 addresses at most. The signer names these accounts, and any account can be named, of megabytes too.
const TABLE_BYTES = { offset: 0, length: 56 + 256 * 32 };

type Lookups = DecodedTransaction["message"]["addressTableLookups"];

async function readLookupTables(nodes: Nodes, lookups: Lookups): Promise<AddressLookupTableAccount[] | null> {
  if (lookups.length === 0) return [];
  const addresses = lookups.map(({ accountKey }) => accountKey.toBase58());
  const read = readAccounts(addresses, "finalized", TABLE_BYTES);
  return await agree(nodes, {
    subject: "a lookup table",
    question: async (endpoint) => tablesIn(await read(endpoint), lookups),
    // Tables grow: only the entries that the message names have to be alike.
    textOf: (tables) =>
      JSON.stringify(tables?.map((table, index) => entriesOf(table, lookups[index])) ?? null),
  });
}

function tablesIn(
  accounts: readonly (Account | null)[],
  lookups: Lookups,
): AddressLookupTableAccount[] | null {
  const tables: AddressLookupTableAccount[] = [];
  for (const [index, { accountKey: key }] of lookups.entries()) {
    const account = accounts[index];
    if (account?.owner !== LOOKUP_TABLE_PROGRAM) return null;
    try {
      const state = AddressLookupTableAccount.deserialize(account.data);
      const table = new AddressLookupTableAccount({ key, state });
      if (!table.isActive()) return null;
      tables.push(table);
    } catch {
      return null;
    }
  }
  return tables;
}

function entriesOf(
  { state }: AddressLookupTableAccount,
  lookup: Lookups[number] | undefined,
): readonly string[] {
  const indexes = [...(lookup?.writableIndexes ?? []), ...(lookup?.readonlyIndexes ?? [])];
  return indexes.map((index) => state.addresses[index]?.toBase58() ?? "none");
}
