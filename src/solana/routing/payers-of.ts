/** Reads whose money came to an address: every transaction that names one of its accounts, and what it took from whom. */
import type { Address } from "../../address.ts";
import type { Inflow, Payers } from "../../ledger/routing.ts";
import type { Nodes } from "../ask.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import { inflowsIn, type LandedChanges } from "./attribute-inflows.ts";
import { landedChanges } from "./landed-changes.ts";
import { inBatches, naming } from "./signed-by.ts";

// Each costs a call. An account that is flooded shows in `isWhole`.
const MAX_TRANSACTIONS = 100;

/** To whom money came, in which mints, and into which accounts besides the associated ones. */
export interface PayersQuestion {
  readonly owner: Address;
  readonly mints: readonly Address[];
  readonly accounts: readonly Address[];
}

/**
 * See `RoutingLedger.payersOf`. Accounts out of which the owner itself paid are looked at too: an account that was emptied
 * may be gone by now, and its history is still listed.
 */
export async function payersOf(nodes: Nodes, { owner, mints, accounts }: PayersQuestion): Promise<Payers> {
  const looked = new Set<Address>();
  const landed = new Map<string, LandedChanges>();
  let isWhole = true;
  let unlooked = [owner, ...mints.map((mint) => associatedTokenAccount(owner, mint)), ...accounts];
  while (unlooked.length > 0) {
    const lists = await inBatches(unlooked, (account) => naming(nodes, account, MAX_TRANSACTIONS));
    for (const account of unlooked) looked.add(account);
    isWhole &&= lists.every((list) => list.isWhole);
    const listed = lists
      .flatMap(({ named }) => named)
      .filter(({ error, signature }) => error === null && !landed.has(signature));
    const unread = [...new Map(listed.map((each) => [each.signature, each])).values()];
    for (const changes of await inBatches(unread, (each) => landedChanges(nodes, each))) {
      landed.set(changes.signature, changes);
    }
    unlooked = accountsPaidFrom(owner, mints, landed.values()).filter((account) => !looked.has(account));
  }
  const inflows = [...landed.values()].flatMap((each): readonly Inflow[] =>
    inflowsIn(owner, [null, ...mints], each),
  );
  return { inflows, isWhole };
}

/** Only where the owner signed: a stranger could name any number of accounts. */
function accountsPaidFrom(
  owner: Address,
  mints: readonly Address[],
  landed: Iterable<LandedChanges>,
): Address[] {
  const found = [...landed]
    .filter(({ signers }) => signers.includes(owner))
    .flatMap(({ tokens }) => tokens)
    .filter((each) => each.owner === owner && mints.includes(each.mint))
    .map(({ account }) => account);
  return [...new Set(found)];
}
