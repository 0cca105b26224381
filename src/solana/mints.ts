/** Reads the program and the decimals of mints. */
import type { Account } from "./rpc/account.ts";
import type { Address } from "../address.ts";
import type { Hint } from "../ledger/belief.ts";
import type { MintMetadata } from "../ledger/ledger.ts";
import { kindOf } from "./account-kinds.ts";
import { ask, type NodeContext } from "./ask.ts";
import { ACCOUNT_HEAD } from "./layouts.ts";
import { readAccounts } from "./read-accounts.ts";
import { programOf, readMintDecimals } from "./token-accounts.ts";

/** See `Ledger.mints`. */
export async function mints(
  nodes: NodeContext,
  addresses: readonly Address[],
): Promise<Hint<readonly (MintMetadata | null)[]>> {
  const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
  return await ask(nodes, async (endpoint) => (await read(endpoint)).map(factsIn));
}

function factsIn(account: Account | null): MintMetadata | null {
  if (account === null || kindOf(account) !== "mint") return null;
  const program = programOf(account.owner);
  const decimals = readMintDecimals(account.data);
  return program === null || decimals === null ? null : { program, decimals };
}
