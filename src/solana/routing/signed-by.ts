/** Lists the transactions that an address signed: this finds money that a database does not know. */
import type { Address } from "../../core/address.ts";
import type { OutgoingTransaction, RoutingLedger } from "../../ledger/routing.ts";
import { follows, weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import { EndpointFailure } from "../endpoint-failure.ts";
import { expectSigned, participantsOf } from "../rpc/landed-transaction.ts";
import { errorText } from "../statuses.ts";

// The most entries of getSignaturesForAddress. Beyond it an address is being flooded, and its history no proof.
export const MAX_SIGNATURES = 1_000;
// getTransaction takes one signature; so many are asked for at a time.
const TRANSACTIONS_AT_ONCE = 8;
// The signers of a finalized transaction never change, and every sweep of a payroll asks again for the hundred that name its
// address. This many entries take about 4 MB; a forgotten entry costs a call. Lists are asked for each time: an entry that a
// node omits today may be listed tomorrow.
const MAX_REMEMBERED = 10_000;

/**
 * See `RoutingLedger.signedBy`. Every endpoint is asked for the signatures, and an entry of any endpoint counts: nodes
 * have silently left entries out.
 */
export async function signedBy(nodes: NodeContext, address: Address): ReturnType<RoutingLedger["signedBy"]> {
  const listed = await naming(nodes, address);
  const signed = await inBatches(listed.transactions, (each) => isSignedBy(nodes, address, each));
  return follows(listed, ({ transactions, isWhole }) => ({
    transactions: transactions.filter((_, index) => signed[index] === true),
    isWhole,
  }));
}

/**
 * The newest finalized transactions that name the address in any role, newest first. All endpoints are asked, and an
 * entry of any endpoint counts.
 */
async function naming(nodes: NodeContext, address: Address): ReturnType<RoutingLedger["signedBy"]> {
  return await weigh(nodes, { of: "signedBy", question: namingOf(address) }, (lists) => ({
    transactions: merged(lists),
    isWhole: lists.every((list) => list.length < MAX_SIGNATURES),
  }));
}

/**
 * Under these zeros surfpool lists what it has refused, such as a transaction whose blockhash is too old. No key signs so,
 * and nothing lands so on any chain.
 */
const OF_NOBODY = "1".repeat(64);

/**
 * Merges the lists of several endpoints without duplicates, newest first. A transaction that any endpoint lists as
 * successful counts as successful.
 */
function merged(lists: readonly (readonly OutgoingTransaction[])[]): readonly OutgoingTransaction[] {
  const landed = lists.flat().filter(({ signature }) => signature !== OF_NOBODY);
  const failedFirst = landed.toSorted((a, b) => Number(a.error === null) - Number(b.error === null));
  const named = new Map(failedFirst.map((each) => [each.signature, each]));
  return [...named.values()].toSorted((a, b) => b.slot - a.slot);
}

/** Asks for each item, a few at a time, and returns the answers in order. */
export async function inBatches<T, R>(items: readonly T[], asked: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let start = 0; start < items.length; start += TRANSACTIONS_AT_ONCE) {
    answers.push(...(await Promise.all(items.slice(start, start + TRANSACTIONS_AT_ONCE).map(asked))));
  }
  return answers;
}

/** The question for transactions that name the address, as one endpoint lists them. */
function namingOf(address: Address): EndpointCall<OutgoingTransaction[]> {
  return async ({ rpc }) => {
    const found = await rpc.getSignaturesForAddress(address, { limit: MAX_SIGNATURES });
    return found.map(({ signature, slot, err }) => ({ signature, slot, error: errorText(err) }));
  };
}

async function isSignedBy(
  nodes: NodeContext,
  address: Address,
  named: OutgoingTransaction,
): Promise<boolean> {
  const { signers } = nodes;
  const { signature } = named;
  const found =
    signers.get(signature) ??
    (await weigh(nodes, { of: "signers", question: signersOf(named) }, (told) => [...new Set(told.flat())]));
  signers.delete(signature);
  signers.set(signature, found);
  const [oldest] = signers.keys();
  if (signers.size > MAX_REMEMBERED && oldest !== undefined) signers.delete(oldest);
  return found.includes(address);
}

/**
 * The signers of a finalized transaction. A node without the transaction gives no answer. One node with the transaction
 * is enough, since the signatures themselves prove the signers.
 */
function signersOf({ signature, slot }: OutgoingTransaction): EndpointCall<readonly string[]> {
  return async ({ rpc }) => {
    const landed = await rpc.getShownTransaction(signature, slot);
    if (landed === null) throw new EndpointFailure("behind", "a finalized transaction it does not have");
    expectSigned(landed.transaction, signature);
    return participantsOf(landed.transaction).signers;
  };
}
