/** Status of each endpoint: chain, slot, block time, and trouble; and how many are there to agree. */
import type { Hint, Evidence } from "../ledger/belief.ts";
import { heard } from "../ledger/heard.ts";
import {
  type EndpointStatus,
  type EndpointTrouble,
  LedgerUnavailable,
  type RateLimitedEndpoint,
  type WitnessCount,
} from "../ledger/ledger.ts";
import { askOne, type NodeContext, type EndpointCall } from "./ask.ts";
import { rateLimitedSince, MAX_SLOTS_BEHIND } from "./health.ts";
import { isAsked, type Endpoint } from "./endpoint.ts";
import { weigh } from "./agree.ts";

const SECOND_MS = 1_000;

/** See `Ledger.endpoints`. */
export async function endpointStatuses(nodes: NodeContext): Promise<Hint<readonly EndpointStatus[]>> {
  // Endpoints of a wrong chain are asked too: such endpoints are exactly what the caller looks for.
  const open: NodeContext = { ...nodes, chain: { genesisHash: null } };
  return await Promise.all(nodes.endpoints.map((endpoint) => standingOf(open, endpoint)));
}

async function standingOf(nodes: NodeContext, endpoint: Endpoint): Promise<Hint<EndpointStatus>> {
  const question: EndpointCall<EndpointStatus> = async ({ rpc }) => {
    // In parallel, and the known genesis hash again: an endpoint that refuses batches fails here.
    const [genesisHash, slot] = await Promise.all([rpc.getGenesisHash(), rpc.getSlot("confirmed")]);
    endpoint.genesisHash ??= genesisHash;
    // A node without block times still counts as healthy.
    const seconds = await rpc.getBlockTime(slot).catch(() => null);
    const blockTime = seconds === null ? null : seconds * SECOND_MS;
    return {
      endpoint: endpoint.name,
      roles: endpoint.roles,
      ...endpoint.rates,
      genesisHash,
      slot,
      blockTime,
      readAt: nodes.clock.now(),
      trouble: null,
    };
  };
  if (!isAsked(endpoint)) return unread(nodes, endpoint, null);
  try {
    return await askOne(nodes, endpoint, question);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable) || nodes.closed.aborted) throw error;
    const [trouble = null] = error.troubles;
    return unread(nodes, endpoint, trouble);
  }
}

/** The status of an endpoint that told nothing. */
function unread(
  { clock }: NodeContext,
  { name, roles, rates, genesisHash }: Endpoint,
  trouble: EndpointTrouble | null,
): Hint<EndpointStatus> {
  const readAt = clock.now();
  return heard<EndpointStatus>({
    endpoint: name,
    roles,
    ...rates,
    genesisHash,
    slot: null,
    blockTime: null,
    readAt,
    trouble,
  });
}

/** See `Ledger.rateLimited`. */
export async function rateLimited({ endpoints }: NodeContext): Promise<Hint<readonly RateLimitedEndpoint[]>> {
  return endpoints.flatMap((endpoint) => {
    const since = rateLimitedSince(endpoint);
    return since === null ? [] : [heard({ endpoint: endpoint.name, since })];
  });
}

/** See `Ledger.witnesses`. */
export async function witnessCount(nodes: NodeContext): Promise<Evidence<WitnessCount>> {
  return await weigh(nodes, { of: "witnesses", question: ({ rpc }) => rpc.getSlot("finalized") }, (slots) => {
    const newest = Math.max(0, ...slots);
    const answering = slots.filter((slot) => newest - slot <= MAX_SLOTS_BEHIND).length;
    return { needed: nodes.witnesses, answering };
  });
}
