/** Reads the program and the decimals of mints. */
import type { Account } from "./rpc/account.ts";
import type { Address } from "../address.ts";
import type { Heard } from "../ledger/belief.ts";
import type { MintFacts } from "../ledger/ledger.ts";
import { kindOf } from "./account-kinds.ts";
import { ask, type Nodes } from "./ask.ts";
import { ACCOUNT_HEAD } from "./layouts.ts";
import { readAccounts } from "./read-accounts.ts";
import { programOf, readMintDecimals } from "./token-accounts.ts";

/** See `Ledger.mints`. */
export async function mints(
  nodes: Nodes,
  addresses: readonly Address[],
): Promise<Heard<readonly (MintFacts | null)[]>> {
  const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
  return await ask(nodes, async (endpoint) => (await read(endpoint)).map(factsIn));
}

function factsIn(account: Account | null): MintFacts | null {
  if (account === null || kindOf(account) !== "mint") return null;
  const program = programOf(account.owner);
  const decimals = readMintDecimals(account.data);
  return program === null || decimals === null ? null : { program, decimals };
}
