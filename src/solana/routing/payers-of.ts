/** Reads whose money came to an address: every transaction that names one of its accounts, and what it took from whom. */
import { addressOf, type Address } from "../../address.ts";
import type { Inflow, Payers } from "../../ledger/routing.ts";
import { ask, type Nodes, type Question } from "../ask.ts";
import { EndpointFailure, expectShape } from "../endpoint-failure.ts";
import { NEWEST_TRANSACTION_VERSION } from "../statuses.ts";
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
  return async (connection) => {
    const landed = await connection.getTransaction(signature, {
      commitment: "finalized",
      maxSupportedTransactionVersion: NEWEST_TRANSACTION_VERSION,
    });
    const meta = landed?.meta ?? null;
    if (landed === null || meta === null) {
      throw new EndpointFailure("behind", "a finalized transaction it does not have");
    }
    const { message, signatures } = landed.transaction;
    expectShape(signatures[0] === signature, "signature");
    const keys = message
      .getAccountKeys(
        meta.loadedAddresses === null || meta.loadedAddresses === undefined
          ? {}
          : { accountKeysFromLookups: meta.loadedAddresses },
      )
      .keySegments()
      .flat()
      .map((key) => addressOf(key.toBytes()));
    const { preBalances, postBalances, preTokenBalances, postTokenBalances, fee } = meta;
    expectShape(preBalances.length === keys.length && postBalances.length === keys.length, "balances");
    return {
      signature,
      signers: keys.slice(0, message.header.numRequiredSignatures),
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

interface HeldTokens {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner?: string;
  readonly uiTokenAmount: { readonly amount: string };
}

function tokenChange(
  keys: readonly Address[],
  { accountIndex, mint, owner, uiTokenAmount }: HeldTokens,
  sign: bigint,
): TokenChange {
  const account = keys[accountIndex];
  expectShape(account !== undefined, "token balances");
  return {
    account,
    owner: owner === undefined ? null : (owner as Address),
    mint: mint as Address,
    change: sign * BigInt(uiTokenAmount.amount),
  };
}
