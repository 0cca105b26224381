/** Runs a transaction on nodes without sending it, its bytes as they would be sent. */
import { differ } from "./agree.ts";
import { ask, byPreference, type Nodes, type Question } from "./ask.ts";
import { EndpointFailure } from "./endpoint-failure.ts";
import { tooFewWitnesses } from "./unavailable.ts";

/** A simulated run: the chain's error in its JSON form (null: none), and the log. */
export interface Simulation {
  readonly err: unknown;
  readonly logs: readonly string[];
}

// A node refuses the signature before it runs anything: OpenSSL takes a few keys that the chain does not.
const SIGNATURE_REFUSED = -32003;

/**
 * Simulates at confirmed, over the blockhash in the bytes. `sigVerify` has the node check the signatures too.
 *
 * The success of a single run is enough: what then fails on the chain costs its fee and moves nothing. An error is
 * believed when `nodes.witnesses` endpoints tell the same, since payees are left out and callers are refused because of
 * it. A node that does not know the blockhash may only lag, so its answer counts where no endpoint knows the blockhash.
 */
export async function simulate(nodes: Nodes, bytes: Uint8Array, sigVerify: boolean): Promise<Simulation> {
  const told: { readonly endpoint: string; readonly run: Simulation }[] = [];
  const errors: unknown[] = [];
  for (const endpoint of nodes.endpoints.toSorted(byPreference(nodes.clock.now()))) {
    try {
      const run = await ask({ ...nodes, endpoints: [endpoint] }, runOf(bytes, sigVerify));
      if (run.err === null) return run;
      told.push({ endpoint: endpoint.name, run });
    } catch (error) {
      errors.push(error);
    }
  }
  const [unknown] = told;
  const known = told.filter(({ run }) => run.err !== BLOCKHASH_NOT_FOUND);
  if (unknown !== undefined && known.length === 0) return unknown.run;
  const agreed = known.find(
    ({ run }) => known.filter((other) => isSameError(other.run, run)).length >= nodes.witnesses,
  );
  if (agreed !== undefined) return agreed.run;
  if (told.length < nodes.witnesses) throw tooFewWitnesses(nodes, told.length, errors);
  throw differ(
    nodes,
    "a simulated transaction",
    told.map(({ endpoint }) => endpoint),
  );
}

const BLOCKHASH_NOT_FOUND = "BlockhashNotFound";

function runOf(bytes: Uint8Array, sigVerify: boolean): Question<Simulation> {
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

function isSameError(one: Simulation, other: Simulation): boolean {
  return JSON.stringify(one.err) === JSON.stringify(other.err);
}

function isSignatureRefused(error: unknown): boolean {
  return error instanceof EndpointFailure && error.kind === "rpc" && error.facts.code === SIGNATURE_REFUSED;
}
