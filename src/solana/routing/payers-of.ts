/** Reads whose money came to an address: every transaction that names one of its accounts, and what it took from whom. */
import type { Address } from "../../address.ts";
import type { Inflow, Payers } from "../../ledger/routing.ts";
import { ask, type Nodes, type Question } from "../ask.ts";
import { EndpointFailure, expectShape } from "../endpoint-failure.ts";
import { participantsOf, signatureOf, type TokenBalance } from "../rpc/landed-transaction.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import { inflowsIn, type LandedChanges, type TokenChange } from "./attribute-inflows.ts";
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
    const signatures = lists
      .flatMap(({ named }) => named)
      .filter(({ error, signature }) => error === null && !landed.has(signature))
      .map(({ signature }) => signature);
    for (const changes of await inBatches([...new Set(signatures)], (each) => ask(nodes, changesOf(each)))) {
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

function changesOf(signature: string): Question<LandedChanges> {
  return async ({ rpc }) => {
    const landed = await rpc.getTransaction(signature);
    const meta = landed?.meta ?? null;
    if (landed === null || meta === null) {
      throw new EndpointFailure("behind", "a finalized transaction it does not have");
    }
    expectShape(signatureOf(landed.transaction) === signature, "signature");
    const { signers, accounts } = participantsOf(landed.transaction);
    const { preBalances, postBalances, preTokenBalances, postTokenBalances, loadedAddresses, fee } = meta;
    const keys = [...accounts, ...(loadedAddresses?.writable ?? []), ...(loadedAddresses?.readonly ?? [])];
    expectShape(preBalances.length === keys.length && postBalances.length === keys.length, "balances");
    return {
      signature,
      signers,
      fee: BigInt(fee),
      lamports: keys.map((account, index) => ({
        account,
        change: BigInt(postBalances[index] ?? 0) - BigInt(preBalances[index] ?? 0),
      })),
      tokens: [
        ...(preTokenBalances ?? []).map((held) => tokenChange(keys, held, -1n)),
        ...(postTokenBalances ?? []).map((held) => tokenChange(keys, held, 1n)),
      ],
    };
  };
}

function tokenChange(
  keys: readonly Address[],
  { accountIndex, mint, owner, uiTokenAmount }: TokenBalance,
  sign: bigint,
): TokenChange {
  const account = keys[accountIndex];
  expectShape(account !== undefined, "token balances");
  return {
    account,
    owner: owner ?? null,
    mint,
    change: sign * BigInt(uiTokenAmount.amount),
  };
}
