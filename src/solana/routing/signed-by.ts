/** Lists the transactions that an address signed, or that name it: this finds money that a database does not know. */
import type { Address } from "../../address.ts";
import type { Evidence, Hint } from "../../ledger/belief.ts";
import type { OutgoingTransaction, RoutingLedger } from "../../ledger/routing.ts";
import { follows, gatherAny } from "../agree.ts";
import { type NodeContext, type EndpointCall, ask } from "../ask.ts";
import { EndpointFailure } from "../endpoint-failure.ts";
import { markerAddress } from "../associated-token-account.ts";
import { expectSigned, participantsOf } from "../rpc/landed-transaction.ts";
import { errorText } from "../statuses.ts";

// What getSignaturesForAddress returns at most. Beyond it an address is being flooded, and its history no proof.
export const MAX_SIGNATURES = 1_000;
// getTransaction takes one signature; so many are asked for at a time.
const TRANSACTIONS_AT_ONCE = 8;
// Who signed a finalized transaction never changes, and every sweep of a payroll asks for the hundred that name its
// address again. This many entries take about 4 MB; a forgotten entry costs a call. Lists are asked for each time: an
// entry that a node omits today may be listed tomorrow.
const MAX_REMEMBERED = 10_000;

export interface NamingHistory {
  readonly named: readonly OutgoingTransaction[];
  /** False when more transactions name the address than were examined. */
  readonly isWhole: boolean;
}

/**
 * See `RoutingLedger.signedBy`. Every endpoint is asked for the signatures, and an entry of any endpoint counts: nodes
 * have silently left entries out.
 */
export async function signedBy(nodes: NodeContext, address: Address): ReturnType<RoutingLedger["signedBy"]> {
  const listed = await naming(nodes, address, MAX_SIGNATURES);
  const transactions = await thoseSignedBy(nodes, address, listed.named);
  return follows(listed, () => ({ transactions, isWhole: listed.isWhole }));
}

export async function thoseSignedBy(
  nodes: NodeContext,
  address: Address,
  named: readonly OutgoingTransaction[],
): Promise<readonly OutgoingTransaction[]> {
  const signed = await inBatches(named, (each) => isSignedBy(nodes, address, each));
  return named.filter((_, index) => signed[index] === true);
}

/** See `RoutingLedger.markedBy`. A stranger may send lamports to a marker; only its base can have made it by signing. */
export async function markedBy(
  nodes: NodeContext,
  base: Address,
  seed: string,
): Promise<Evidence<OutgoingTransaction | "foreign"> | null> {
  const listed = await naming(nodes, markerAddress(base, seed), MAX_SIGNATURES);
  const { named, isWhole } = listed;
  const landed = named.filter(({ error }) => error === null);
  const signed = await inBatches(landed, (each) => isSignedBy(nodes, base, each));
  // The oldest: a sweep takes the marker away under the same signature.
  const made = landed.findLast((_, index) => signed[index] === true);
  return made ?? (isWhole && landed.length > 0 ? follows(listed, () => "foreign" as const) : null);
}

/**
 * The newest finalized transactions that name the address in any role, newest first. All endpoints are asked, and an
 * entry of any endpoint counts.
 */
async function naming(nodes: NodeContext, address: Address, most: number): Promise<Evidence<NamingHistory>> {
  return await gatherAny(nodes, namingOf(address, most), (lists) => ({
    named: merged(lists),
    isWhole: lists.every((list) => list.length < most),
  }));
}

/**
 * Merges the lists of several endpoints without duplicates, newest first. A transaction that any endpoint lists as
 * successful counts as successful.
 */
export function merged(lists: readonly (readonly OutgoingTransaction[])[]): readonly OutgoingTransaction[] {
  const failedFirst = lists.flat().toSorted((a, b) => Number(a.error === null) - Number(b.error === null));
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
export function namingOf(address: Address, most: number): EndpointCall<OutgoingTransaction[]> {
  return async ({ rpc }) => {
    const found = await rpc.getSignaturesForAddress(address, { limit: most });
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
    signers.get(signature) ?? (await gatherAny(nodes, signersOf(named), (told) => [...new Set(told.flat())]));
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

/** Anybody can name any key: more are a flood, in which nothing has to be found. */
const MOST = 10;

/** See `RoutingLedger.listedUnder`: as one endpoint tells it. */
export async function listedUnder(nodes: NodeContext, key: Address): Promise<Hint<readonly string[]>> {
  return await ask(nodes, async ({ rpc }) => {
    const listed = await rpc.getSignaturesForAddress(key, { limit: MOST });
    return listed
      .filter(({ err }) => err === null)
      .map(({ signature }) => signature)
      .toReversed();
  });
}
