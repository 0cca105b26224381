/** A message's instructions with every index replaced by the address it stands for, lookup tables included. */
import { AddressLookupTableAccount, type MessageAccountKeys } from "@solana/web3.js";
import { ask, type Nodes } from "./ask.ts";
import type { DecodedTransaction } from "./decode-transaction.ts";
import { LOOKUP_TABLE_PROGRAM } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";

/** One instruction in plain words: base58 addresses and the bytes for the program. */
export interface ResolvedInstruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/**
 * Resolves all instructions; null when a lookup table does not exist, is being closed, is too short, or brings an
 * account that is there already. Tables are read at finalized: entries are only ever appended, so what is finalized
 * cannot change under a signed transaction.
 */
export async function resolveInstructions(
  nodes: Nodes,
  { message }: Pick<DecodedTransaction, "message">,
): Promise<ResolvedInstruction[] | null> {
  const tables = await readLookupTables(
    nodes,
    message.addressTableLookups.map((lookup) => lookup.accountKey),
  );
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

type TableKeys = DecodedTransaction["message"]["addressTableLookups"][number]["accountKey"][];

async function readLookupTables(nodes: Nodes, keys: TableKeys): Promise<AddressLookupTableAccount[] | null> {
  if (keys.length === 0) return [];
  const addresses = keys.map((key) => key.toBase58());
  const accounts = await ask(nodes, readAccounts(addresses, "finalized", TABLE_BYTES));
  const tables: AddressLookupTableAccount[] = [];
  for (const [index, key] of keys.entries()) {
    const account = accounts[index];
    if (account?.owner !== LOOKUP_TABLE_PROGRAM) return null;
    try {
      const table = new AddressLookupTableAccount({
        key,
        state: AddressLookupTableAccount.deserialize(account.data),
      });
      if (!table.isActive()) return null;
      tables.push(table);
    } catch {
      return null;
    }
  }
  return tables;
}
