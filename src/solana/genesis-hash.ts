/** Reads which chain the endpoints serve. */
import { LedgerUnavailable } from "../ledger/ledger.ts";
import { ask, askEach, type Nodes, type Question } from "./ask.ts";
import { chainOf } from "./endpoint.ts";

const chainQuestion: Question<string> = (endpoint) => chainOf(endpoint);

/**
 * The chain that every endpoint which answers agrees on; from then on no other one is believed. Throws
 * `LedgerUnavailable` when none answers, or when they serve different chains: then nothing that they say may be put
 * together.
 */
export async function genesisHash(nodes: Nodes): Promise<string> {
  // Compared here and not in passing, so that an endpoint of another chain is an error and not merely left out.
  const open: Nodes = { ...nodes, chain: { genesisHash: null } };
  const answers = await askEach(open, chainQuestion);
  const chains = new Set(answers.filter((answer) => answer !== null));
  const [chain, another] = chains;
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
  // No endpoint answered; asking again throws the reason.
  const found = chain ?? (await ask(open, chainQuestion));
  nodes.chain.genesisHash = found;
  return found;
}
