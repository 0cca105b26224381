/** Status of each endpoint: chain, slot, block time, and trouble. */
import type { Hint } from "../ledger/belief.ts";
import { heard } from "../ledger/heard.ts";
import { type EndpointStatus, LedgerUnavailable } from "../ledger/ledger.ts";
import { ask, type NodeContext, type EndpointCall } from "./ask.ts";
import type { Endpoint } from "./endpoint.ts";

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
      genesisHash,
      slot,
      blockTime,
      readAt: nodes.clock.now(),
      trouble: null,
    };
  };
  try {
    return await ask({ ...nodes, endpoints: [endpoint] }, question);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable) || nodes.closed.aborted) throw error;
    const [trouble = null] = error.troubles;
    const { name, genesisHash } = endpoint;
    const readAt = nodes.clock.now();
    return heard<EndpointStatus>({
      endpoint: name,
      genesisHash,
      slot: null,
      blockTime: null,
      readAt,
      trouble,
    });
  }
}
