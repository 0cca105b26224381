/** Reads whether associated token accounts can be used, so that a freeze is found before a payment needs the account. */
import type { Account } from "./rpc/account.ts";
import type { Address } from "../address.ts";
import type { Hint } from "../ledger/belief.ts";
import type { TokenAccountState } from "../ledger/ledger.ts";
import { ask, type NodeContext } from "./ask.ts";
import { associatedTokenAccount } from "./associated-token-account.ts";
import { ACCOUNT_HEAD } from "./layouts.ts";
import { TOKEN_PROGRAM } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";
import { isFrozen } from "./routing/held-in-account.ts";
import { readTokenAccount } from "./token-accounts.ts";

/** See `Ledger.tokenAccountStates`. */
export async function tokenAccountStates(
  nodes: NodeContext,
  accounts: readonly { readonly owner: Address; readonly mint: Address }[],
): Promise<Hint<readonly TokenAccountState[]>> {
  const addresses = accounts.map(({ owner, mint }) => associatedTokenAccount(owner, mint));
  const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
  return await ask(nodes, async (endpoint) => {
    const found = await read(endpoint);
    return accounts.map(({ owner }, index) => stateOf(found[index] ?? null, owner));
  });
}

function stateOf(account: Account | null, owner: Address): TokenAccountState {
  // Lamports that a stranger sent to the address make no account.
  const held = account?.owner === TOKEN_PROGRAM ? readTokenAccount(account.data) : null;
  if (account === null || held === null) return "absent";
  if (held.owner !== owner) return "handed_over";
  return isFrozen(account) ? "frozen" : "usable";
}
