/** Which chain the endpoints serve. */
import { LedgerUnavailable } from "../ledger.ts";
import { ask, askEach, type Nodes, type Question } from "./ask.ts";

/** The chain an endpoint serves; asked once, for it cannot change. */
export const genesisHashOf: Question<string> = async (connection, endpoint) => {
  endpoint.genesisHash ??= await connection.getGenesisHash();
  return endpoint.genesisHash;
};

/**
 * The chain that every endpoint which answers agrees on. Throws `LedgerUnavailable` when none answers, or when they
 * serve different chains: then nothing that they say may be put together.
 */
export async function genesisHash(nodes: Nodes): Promise<string> {
  const answers = await askEach(nodes, genesisHashOf);
  const chains = new Set(answers.filter((answer) => answer !== null));
  const [chain, another] = chains;
  if (another !== undefined) {
    throw new LedgerUnavailable(`the endpoints serve different chains (${[...chains].join(", ")})`);
  }
  // Nobody answered; asking once more says why.
  return chain ?? (await ask(nodes, genesisHashOf));
}
