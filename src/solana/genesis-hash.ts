/** Reads which chain the endpoints serve, and whether it takes transactions of version 1. */
import type { Evidence } from "../ledger/belief.ts";
import { LedgerUnavailable } from "../ledger/ledger.ts";
import { agree, weigh } from "./agree.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { chainOf } from "./endpoint.ts";
import { FEATURE_OWNER, TRANSACTIONS_V1_FEATURE } from "./programs.ts";
import { readAccounts } from "./accounts.ts";

const chainQuestion: EndpointCall<string> = (endpoint) => chainOf(endpoint);

/** The chains that the endpoints tell. */
async function chainsOf(nodes: NodeContext): Promise<Evidence<readonly string[]>> {
  return await weigh(nodes, { of: "genesisHash", question: chainQuestion }, (answers) => [
    ...new Set(answers),
  ]);
}

/**
 * The chain that all answering endpoints agree on; afterwards the ledger accepts no different chain. Throws
 * `LedgerUnavailable` when no endpoint answers, or when endpoints serve different chains, whose answers must never be
 * combined.
 */
export async function genesisHash(nodes: NodeContext): Promise<Evidence<string>> {
  // Compared here for all endpoints, so that an endpoint of a wrong chain is an error and is not merely skipped.
  const open: NodeContext = { ...nodes, chain: { genesisHash: null } };
  let [chain, another] = await chainsOf(open);
  if (another !== undefined) {
    // An odd answer of one node is asked again.
    for (const endpoint of nodes.endpoints) endpoint.genesisHash = null;
    [chain, another] = await chainsOf(open);
  }
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

// A feature is switched on at the end of an epoch, which lasts two days, and never off.
const KNOWN_FOR_MS = 60_000;

// An optional slot: none while validators only could switch it on.
const IS_ACTIVE = { offset: 0, length: 1 };

/** See `Ledger.takesVersion1`. */
export async function takesVersion1(nodes: NodeContext): Promise<Evidence<boolean>> {
  const read = readAccounts([TRANSACTIONS_V1_FEATURE], "finalized", IS_ACTIVE);
  return await nodes.remembered("version 1", KNOWN_FOR_MS, () =>
    agree(nodes, {
      of: "takesVersion1",
      subject: "whether the chain takes transactions of version 1",
      question: async (endpoint) => {
        const [account] = await read(endpoint);
        return account?.owner === FEATURE_OWNER && account.data[0] === 1;
      },
      textOf: String,
    }),
  );
}
