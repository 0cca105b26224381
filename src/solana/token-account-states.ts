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

/** See `Ledger.tokenAccountStates`. */
export async function tokenAccountStates(
  nodes: NodeContext,
  accounts: readonly { readonly owner: Address; readonly mint: Address }[],
): Promise<Evidence<readonly TokenAccountState[]>> {
  const addresses = accounts.map(({ owner, mint }) => associatedTokenAccount(owner, mint));
  const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
  return await agree(nodes, {
    of: "tokenAccountStates",
    subject: "the state of token accounts",
    question: async (endpoint): Promise<readonly TokenAccountState[]> => {
      const found = await read(endpoint);
      return accounts.map(({ owner }, index) => stateOf(found[index] ?? null, owner));
    },
    textOf: String,
  });
}

function stateOf(account: Account | null, owner: Address): TokenAccountState {
  // Lamports that a stranger sent to the address make no account.
  const held = account?.owner === TOKEN_PROGRAM ? readTokenAccount(account.data) : null;
  if (account === null || held === null) return "absent";
  if (held.owner !== owner) return "handed_over";
  return isFrozen(account) ? "frozen" : "usable";
}

// Where accounts lie is derived between calls, half a millisecond each, so that hundreds do not hold up this process.
const OWNERS_AT_ONCE = 25;

/**
 * See `RoutingLedger.haveTokenAccounts`. A token account whose owner gave it to somebody else also counts as existing:
 * it costs no rent, and a transfer to it fails. Lamports that a stranger sent to the address make no account.
 */
export async function haveTokenAccounts(
  nodes: NodeContext,
  owners: readonly Address[],
  mint: Address,
): Promise<Evidence<readonly boolean[]>> {
  const found: Evidence<boolean>[] = [];
  for (let start = 0; start < owners.length; start += OWNERS_AT_ONCE) {
    const batch = owners.slice(start, start + OWNERS_AT_ONCE);
    const addresses = batch.map((owner) => associatedTokenAccount(owner, mint));
    const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
    const present = await agree(nodes, {
      of: "haveTokenAccounts",
      subject: "the token accounts of owners",
      question: async (endpoint) => (await read(endpoint)).map((account) => account?.owner === TOKEN_PROGRAM),
      textOf: String,
    });
    found.push(...present);
  }
  return found;
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
