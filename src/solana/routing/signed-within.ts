/** Lists what an address signed in a period, and whether enough endpoints have its whole history. */
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { OutgoingTransaction, TimeWindow, WitnessedHistory } from "../../ledger/routing.ts";
import { follows, weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import type { Endpoint } from "../endpoint.ts";
import { tooFewWitnesses } from "../endpoint-failure.ts";
import { readEnd } from "./heights.ts";
import { MAX_SIGNATURES, merged, namingOf, thoseSignedBy, type NamingHistory } from "./signed-by.ts";

const SECOND = 1_000;

/** The list of one endpoint, and the period for which the list is complete. */
interface Listing {
  readonly named: readonly OutgoingTransaction[];
  /** Unix milliseconds; infinity when the endpoint does not tell the time of its first block. */
  readonly begins: number;
  readonly ends: number;
}

/** See `RoutingLedger.signedWithin`. An endpoint whose newest final block is older than the period's end tells nothing of it. */
export async function signedWithin(
  nodes: NodeContext,
  address: Address,
  period: TimeWindow,
): Promise<Evidence<WitnessedHistory>> {
  const listed = await weigh(nodes, listingOf(address), (listings) => witnessed(nodes, period, listings));
  const transactions = await thoseSignedBy(nodes, address, listed.named);
  const { isWhole, isProven } = listed;
  return follows(listed, () => ({ transactions, isWhole, isProven }));
}

function witnessed(
  nodes: NodeContext,
  { from, to }: TimeWindow,
  listings: readonly Listing[],
): NamingHistory & Pick<WitnessedHistory, "isProven"> {
  const current = listings.filter(({ ends }) => ends >= to);
  if (current.length < nodes.witnesses) throw tooFewWitnesses(nodes, current.length, []);
  return {
    named: merged(listings.map(({ named }) => named)),
    isWhole: listings.every(({ named }) => named.length < MAX_SIGNATURES),
    isProven: current.filter(({ begins }) => begins <= from).length >= nodes.witnesses,
  };
}

/**
 * The end is read before the list, and the beginning before and after it: one address may stand for several nodes, and
 * the node with the least history counts.
 */
function listingOf(address: Address): EndpointCall<Listing> {
  const naming = namingOf(address, MAX_SIGNATURES);
  return async (endpoint) => {
    const { blockTime: ends } = await readEnd(endpoint, "finalized");
    const before = await firstBlockOf(endpoint);
    const named = await naming(endpoint);
    const first = Math.max(before, await firstBlockOf(endpoint));
    // Of a full list the oldest entry is where it begins.
    const oldest = named.length < MAX_SIGNATURES ? first : Math.max(first, named.at(-1)?.slot ?? first);
    return { named, begins: await timeOf(endpoint, oldest), ends: ends * SECOND };
  };
}

function firstBlockOf({ rpc }: Endpoint): Promise<number> {
  return rpc.getFirstAvailableBlock();
}

/** Before the first slot there was nothing. */
async function timeOf({ rpc }: Endpoint, slot: number): Promise<number> {
  if (slot === 0) return 0;
  const seconds = await rpc.getBlockTime(slot);
  return seconds === null ? Infinity : seconds * SECOND;
}
