/** JSON-RPC calls without web3.js: an answer is parsed once, and checked by the one who asked. */

/**
 * Calls a method of one node and resolves with the `result` of its answer, whose shape is not checked. Rejects with an
 * `EndpointFailure` when there is no answer, or an answer to another call.
 */
export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

export interface WrittenCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** The id that marks the answer. */
  readonly id: string;
  readonly text: string;
}

/** The outcome of one call: its `result`, or the error. */
export type Outcome = PromiseSettledResult<unknown>;

/** Sends calls to a node in one HTTP request: returns their outcomes in order. Never rejects. */
export type RpcBatchFetch = (calls: readonly WrittenCall[]) => Promise<readonly Outcome[]>;

/** Writes calls, each with an id of its own. */
export class CallWriter {
  #calls = 0;

  write(method: string, params: readonly unknown[]): WrittenCall {
    this.#calls += 1;
    const id = String(this.#calls);
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    return { method, params, id, text };
  }
}

/** Sends each call in a request of its own. */
export function singleCalls(post: RpcBatchFetch): RpcCall {
  const writer = new CallWriter();
  return async (method, params) => {
    const [outcome] = await post([writer.write(method, params)]);
    return resultOf(outcome);
  };
}

/** The answer; throws where there is none. */
export function resultOf(outcome: Outcome | undefined): unknown {
  if (outcome?.status === "fulfilled") return outcome.value;
  throw outcome?.reason;
}

/** True for what JSON writes as an object, and for nothing else. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fulfilled(value: unknown): Outcome {
  return { status: "fulfilled", value };
}

export function rejected(reason: unknown): Outcome {
  return { status: "rejected", reason };
}

// Limits on the size of a call, by the nodes' own rules. Providers may allow less: see `EndpointOptions`.
/** Accounts in getMultipleAccounts (agave: MAX_MULTIPLE_ACCOUNTS). */
export const MAX_ACCOUNTS_PER_CALL = 100;
/** Signatures in getSignatureStatuses (agave: MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS). */
export const MAX_SIGNATURES_PER_CALL = 256;
/** Calls in one HTTP request: more would gain little, and all of them wait for the slowest. */
export const MAX_CALLS_PER_BATCH = 100;
/** Characters of one HTTP request with several calls (agave: MAX_REQUEST_BODY_SIZE, 50 KiB; some are left for what joins them). */
export const MAX_BATCH_BYTES = 48 * 1024;
