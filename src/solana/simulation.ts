/** Runs a transaction on a node without sending it, its bytes as they would be sent. */
import { askUntil, type Nodes } from "./ask.ts";
import { EndpointFailure } from "./endpoint-failure.ts";

/** What a node says of a simulated run: the chain's error in its JSON form (null: none), and the log. */
export interface Simulation {
  readonly err: unknown;
  readonly logs: readonly string[];
}

// A node refuses the signature before it runs anything: OpenSSL takes a few keys that the chain does not.
const SIGNATURE_REFUSED = -32003;

/**
 * Simulates at confirmed, over the blockhash in the bytes. A node that does not know the blockhash may only lag (it was
 * seen valid before), so the next one is asked. `sigVerify` has the node check the signatures too.
 */
export async function simulate(nodes: Nodes, bytes: Uint8Array, sigVerify: boolean): Promise<Simulation> {
  return await askUntil(
    nodes,
    ({ err }) => err !== "BlockhashNotFound",
    async ({ rpc }) => {
      try {
        const { err, logs } = await rpc.simulateTransaction(bytes, { sigVerify });
        return { err, logs: logs ?? [] };
      } catch (error) {
        if (!isSignatureRefused(error)) throw error;
        return { err: "SignatureFailure", logs: [] };
      }
    },
  );
}

function isSignatureRefused(error: unknown): boolean {
  return error instanceof EndpointFailure && error.kind === "rpc" && error.facts.code === SIGNATURE_REFUSED;
}
