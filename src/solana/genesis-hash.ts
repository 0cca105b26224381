/** Reads which chain the endpoints serve. */
import type { Evidence } from "../ledger/belief.ts";
import { LedgerUnavailable } from "../ledger/ledger.ts";
import { gatherAny } from "./agree.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { chainOf } from "./endpoint.ts";

const chainQuestion: EndpointCall<string> = (endpoint) => chainOf(endpoint);

/**
 * The chain that every endpoint which answers agrees on; from then on no other one is believed. Throws
 * `LedgerUnavailable` when none answers, or when they serve different chains: then nothing that they say may be put
 * together.
 */
export async function genesisHash(nodes: NodeContext): Promise<Evidence<string>> {
  // Compared here and not in passing, so that an endpoint of another chain is an error and not merely left out.
  const open: NodeContext = { ...nodes, chain: { genesisHash: null } };
  const [chain, another] = await gatherAny(open, chainQuestion, (answers) => [...new Set(answers)]);
  if (another !== undefined) {
    const told = nodes.endpoints.map(({ name, genesisHash: hash }) => `${name}: ${hash ?? "silent"}`);
    throw new LedgerUnavailable(
      `the endpoints serve different chains (${told.join("; ")})`,
      nodes.endpoints.map(({ name }) => ({
        endpoint: name,
        kind: "other_chain",
        code: null,
        message: "serves another chain than the rest",
      })),
    );
  }
  if (chain === undefined) throw new TypeError("an endpoint that answered told no chain");
  nodes.chain.genesisHash = chain;
  return chain;
}
