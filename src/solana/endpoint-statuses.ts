/** What each endpoint tells of itself: its chain, how far it is, and what is wrong with it. */
import type { Hint } from "../ledger/belief.ts";
import { heard } from "../ledger/heard.ts";
import { type EndpointStatus, LedgerUnavailable } from "../ledger/ledger.ts";
import { ask, type NodeContext, type EndpointCall } from "./ask.ts";
import type { Endpoint } from "./endpoint.ts";

const SECOND_MS = 1_000;

/** See `Ledger.endpoints`. */
export async function endpointStatuses(nodes: NodeContext): Promise<Hint<readonly EndpointStatus[]>> {
  // One of another chain is asked as well: that it serves another is what is looked for.
  const open: NodeContext = { ...nodes, chain: { genesisHash: null } };
  return await Promise.all(nodes.endpoints.map((endpoint) => standingOf(open, endpoint)));
}

async function standingOf(nodes: NodeContext, endpoint: Endpoint): Promise<Hint<EndpointStatus>> {
  const question: EndpointCall<EndpointStatus> = async ({ rpc }) => {
    // At one moment, and the chain again though it is known: an endpoint that refuses its batches shows it here.
    const [genesisHash, slot] = await Promise.all([rpc.getGenesisHash(), rpc.getSlot("confirmed")]);
    endpoint.genesisHash ??= genesisHash;
    // A node that keeps no times of blocks is well all the same.
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
