/** A message's instructions with every index replaced by the address it stands for, lookup tables included. */
import { AddressLookupTableAccount, type MessageAccountKeys } from "@solana/web3.js";
import { ask, type Nodes } from "./ask.ts";
import type { DecodedTransaction } from "./decode-transaction.ts";
import { expectShape } from "./endpoint-failure.ts";
import { LOOKUP_TABLE_PROGRAM } from "./programs.ts";

/** One instruction in plain words: base58 addresses and the bytes for the program. */
export interface ResolvedInstruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/**
 * Resolves all instructions; null when a lookup table does not exist, is being closed, or is too short. Tables are read
 * at finalized: entries are only ever appended, so what is finalized cannot change under a signed transaction.
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
  const address = (index: number): string => {
    const key = keys.get(index);
    if (key === undefined) {
      throw new RangeError(`account index ${index} of a decoded message is out of range`);
    }
    return key.toBase58();
  };
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    program: address(programIdIndex),
    accounts: accountKeyIndexes.map(address),
    data,
  }));
}

type TableKeys = DecodedTransaction["message"]["addressTableLookups"][number]["accountKey"][];

async function readLookupTables(nodes: Nodes, keys: TableKeys): Promise<AddressLookupTableAccount[] | null> {
  if (keys.length === 0) return [];
  const accounts = await ask(nodes, async (connection) => {
    const { value } = await connection.getMultipleAccountsInfoAndContext(keys, { commitment: "finalized" });
    expectShape(value.length === keys.length, "number of accounts");
    return value;
  });
  const tables: AddressLookupTableAccount[] = [];
  for (const [index, key] of keys.entries()) {
    const account = accounts[index];
    if (account?.owner.toBase58() !== LOOKUP_TABLE_PROGRAM) return null;
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
