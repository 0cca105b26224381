/** A message's instructions with every index replaced by the address it stands for, lookup tables included. */
import { AddressLookupTableAccount, PublicKey } from "@solana/web3.js";
import type { Evidence } from "../ledger/belief.ts";
import { agree, follows, unasked } from "./agree.ts";
import type { NodeContext } from "./ask.ts";
import type { DecodedTransaction } from "./decode-transaction.ts";
import { LOOKUP_TABLE_PROGRAM } from "./programs.ts";
import { readAccounts } from "./accounts.ts";
import type { Account } from "./rpc/account.ts";

/** A resolved instruction: base58 addresses and the bytes for the program. */
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
  nodes: NodeContext,
  { message }: Pick<DecodedTransaction, "message">,
): Promise<Evidence<readonly ResolvedInstruction[]> | null> {
  const loaded = await loadedKeys(nodes, message.addressTableLookups);
  return loaded === null ? null : resolved(message, loaded);
}

function resolved(
  message: DecodedTransaction["message"],
  loaded: Evidence<LoadedKeys>,
): Evidence<readonly ResolvedInstruction[]> | null {
  const accountKeysFromLookups = {
    writable: loaded.writable.map((key) => new PublicKey(key)),
    readonly: loaded.readonly.map((key) => new PublicKey(key)),
  };
  const keys =
    message.version === 0 ? message.getAccountKeys({ accountKeysFromLookups }) : message.getAccountKeys();
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
  const instructions = message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    program: address(programIdIndex),
    accounts: accountKeyIndexes.map(address),
    data,
  }));
  return follows(loaded, () => instructions);
}

// A header, and 256 addresses at most. The signer names these accounts, and any account can be named, of megabytes too.
const TABLE_BYTES = { offset: 0, length: 56 + 256 * 32 };

type Lookups = DecodedTransaction["message"]["addressTableLookups"];

/** The keys that a message takes out of lookup tables, in its order. */
interface LoadedKeys {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

async function loadedKeys(nodes: NodeContext, lookups: Lookups): Promise<Evidence<LoadedKeys> | null> {
  if (lookups.length === 0) return unasked({ writable: [], readonly: [] });
  const addresses = lookups.map(({ accountKey }) => accountKey.toBase58());
  const read = readAccounts(addresses, "finalized", TABLE_BYTES);
  return await agree(nodes, {
    of: "verifyPayment",
    subject: "a lookup table",
    // Tables grow: only the entries that the message names have to be alike.
    question: async (endpoint) => keysIn(await read(endpoint), lookups),
    textOf: (keys) => JSON.stringify(keys),
  });
}

/** Null where a table is missing, is being closed, or does not hold an entry that the message names. */
function keysIn(accounts: readonly (Account | null)[], lookups: Lookups): LoadedKeys | null {
  const writable: string[] = [];
  const readonly: string[] = [];
  for (const [index, { accountKey, writableIndexes, readonlyIndexes }] of lookups.entries()) {
    const table = tableIn(accounts[index] ?? null, accountKey);
    const entriesAt = (indexes: readonly number[]): readonly string[] =>
      indexes.flatMap((each) => table?.state.addresses[each]?.toBase58() ?? []);
    const found = { writable: entriesAt(writableIndexes), readonly: entriesAt(readonlyIndexes) };
    writable.push(...found.writable);
    readonly.push(...found.readonly);
    const isWhole =
      found.writable.length === writableIndexes.length && found.readonly.length === readonlyIndexes.length;
    if (table === null || !isWhole) return null;
  }
  return { writable, readonly };
}

function tableIn(account: Account | null, key: PublicKey): AddressLookupTableAccount | null {
  if (account?.owner !== LOOKUP_TABLE_PROGRAM) return null;
  try {
    const state = AddressLookupTableAccount.deserialize(account.data);
    const table = new AddressLookupTableAccount({ key, state });
    return table.isActive() ? table : null;
  } catch {
    return null;
  }
}
