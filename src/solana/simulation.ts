/** Runs a transaction on nodes without sending it, its bytes as they would be sent. */
import type { Evidence } from "../ledger/belief.ts";
import { failureOf, untilAgreed } from "./agree.ts";
import type { NodeContext, EndpointCall } from "./ask.ts";
import { isDead } from "./blockhash-window.ts";
import { EndpointFailure } from "./endpoint-failure.ts";
import { BLOCKHASH_NOT_FOUND } from "./rpc/rpc-node.ts";

/** A simulated run: the chain's error in its JSON form (null: none), and the log. */
export interface Simulation {
  readonly err: unknown;
  readonly logs: readonly string[];
}

// A node refuses the signature before it runs anything: OpenSSL takes a few keys that the chain does not.
const SIGNATURE_REFUSED = -32003;

/**
 * Simulates at confirmed, over the blockhash in the bytes; null when it succeeds. `sigVerify` has the node check the
 * signatures too.
 *
 * The success of a single run is enough: a transaction that then fails on the chain costs its fee and moves nothing. An
 * error is believed when `nodes.witnesses` endpoints tell the same, since payees are left out and callers are refused
 * because of it. A node that does not know the blockhash may only lag: it is asked again for about two seconds, unless the
 * blockhash is dead.
 */
export async function simulate(
  nodes: NodeContext,
  { bytes, blockhash }: { readonly bytes: Uint8Array; readonly blockhash: string },
  sigVerify: boolean,
): Promise<Evidence<Simulation> | null> {
  return await untilAgreed(nodes, async () => {
    const failure = await failureOf(nodes, {
      of: "tryOrder",
      subject: "a simulated transaction",
      question: runOf(bytes, sigVerify),
      textOf: ({ err }) => JSON.stringify(err),
      passes: ({ err }) => err === null,
      mayLag: ({ err }) => err === BLOCKHASH_NOT_FOUND,
    });
    if (failure?.err !== BLOCKHASH_NOT_FOUND) return failure;
    return (await isDead(nodes, blockhash)) ? failure : undefined;
  });
}

function runOf(bytes: Uint8Array, sigVerify: boolean): EndpointCall<Simulation> {
  return async ({ rpc }) => {
    try {
      const { err, logs } = await rpc.simulateTransaction(bytes, { sigVerify });
      return { err, logs: logs ?? [] };
    } catch (error) {
      if (!isSignatureRefused(error)) throw error;
      return { err: "SignatureFailure", logs: [] };
    }
  };
}

function isSignatureRefused(error: unknown): boolean {
  return error instanceof EndpointFailure && error.kind === "rpc" && error.facts.code === SIGNATURE_REFUSED;
}
