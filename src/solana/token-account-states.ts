/** Reads the state of token accounts: whether one is there and can be used, and what it holds. */
import type { Account } from "./rpc/account.ts";
import type { Address } from "../core/address.ts";
import type { Hint, Evidence } from "../ledger/belief.ts";
import type { TokenAccountState, Commitment } from "../ledger/ledger.ts";
import { ask, type NodeContext } from "./ask.ts";
import { associatedTokenAccount } from "./associated-token-account.ts";
import { ACCOUNT_HEAD, TOKEN_PROGRAM } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";
import { isFrozen, lamportsIn, unitsOfAnybody } from "./routing/held-in-account.ts";
import { readTokenAccount } from "./token-accounts.ts";
import { agree } from "./agree.ts";
import type { AssetAccount } from "../ledger/routing.ts";

// Where accounts lie is derived between calls, half a millisecond each, so that hundreds do not hold up this process.
const ACCOUNTS_AT_ONCE = 25;

/** See `Ledger.tokenAccountStates`. */
export async function tokenAccountStates(
  nodes: NodeContext,
  accounts: readonly { readonly owner: Address; readonly mint: Address }[],
): Promise<Evidence<readonly TokenAccountState[]>> {
  const states: Evidence<TokenAccountState>[] = [];
  for (let start = 0; start < accounts.length; start += ACCOUNTS_AT_ONCE) {
    const batch = accounts.slice(start, start + ACCOUNTS_AT_ONCE);
    const addresses = batch.map(({ owner, mint }) => associatedTokenAccount(owner, mint));
    const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
    const told = await agree(nodes, {
      of: "tokenAccountStates",
      subject: "the state of token accounts",
      question: async (endpoint): Promise<readonly TokenAccountState[]> => {
        const found = await read(endpoint);
        return batch.map(({ owner }, index) => stateOf(found[index] ?? null, owner));
      },
      textOf: String,
    });
    states.push(...told);
  }
  return states;
}

function stateOf(account: Account | null, owner: Address): TokenAccountState {
  // Lamports that a stranger sent to the address make no account.
  const held = account?.owner === TOKEN_PROGRAM ? readTokenAccount(account.data) : null;
  if (account === null || held === null) return "absent";
  if (held.owner !== owner) return "handed_over";
  return isFrozen(account) ? "frozen" : "usable";
}

/** See `RoutingLedger.amountsIn`. */
export async function amountsIn(
  nodes: NodeContext,
  accounts: readonly AssetAccount[],
  commitment: Commitment,
): Promise<Hint<readonly bigint[]>> {
  const read = readAccounts(
    accounts.map(({ address }) => address),
    commitment,
    ACCOUNT_HEAD,
  );
  // The limits of all endpoints count for looks: one whose calls have to wait leaves them to the next.
  const endpoints = nodes.endpoints.toSorted((a, b) => Number(b.hasRoom()) - Number(a.hasRoom()));
  return await ask({ ...nodes, endpoints }, async (endpoint) => {
    const found = await read(endpoint);
    return accounts.map(({ mint }, index) =>
      mint === null ? lamportsIn(found[index]) : unitsOfAnybody(found[index], mint),
    );
  });
}
