/** JSON-RPC calls without web3.js, one or a batch of them in a request: https://www.jsonrpc.org/specification */
import { EndpointFailure, expectShape, isAboutQuestion } from "../endpoint-failure.ts";
import { nodeAsked } from "../../core/diagnostics.ts";
import type { Clock } from "../../core/runtime.ts";

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

/** Sends a request with these calls to the endpoint, and resolves with the text of its answer. */
export type EndpointFetch = (body: string, calls: readonly WrittenCall[]) => Promise<string>;

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

/** Posts calls through `exchange`, which throws HTTP errors: a single call as an object, several as an array. */
export function postedCalls(exchange: EndpointFetch): RpcBatchFetch {
  return async (calls) => {
    const [only, ...others] = calls;
    try {
      if (only === undefined) return [];
      if (others.length > 0) return answersTo(calls, await batchOf(exchange, calls));
      return [fulfilled(resultIn(parsed(await exchange(only.text, calls)), only))];
    } catch (error) {
      // Every call gets the same error, which counts once against the endpoint.
      return calls.map(() => rejected(error));
    }
  };
}

/** The node's answer to a batch of calls. Throws when the answer is not a list. */
async function batchOf(exchange: EndpointFetch, calls: readonly WrittenCall[]): Promise<readonly unknown[]> {
  try {
    const answer = parsed(await exchange(`[${calls.map(({ text }) => text).join(",")}]`, calls));
    if (Array.isArray(answer)) return answer as unknown[];
    if (isObject(answer)) refuseError(answer);
    throw new EndpointFailure("garbled", "no list of answers");
  } catch (error) {
    if (!(error instanceof EndpointFailure) || !isRefusal(error)) throw error;
    const { kind, message, facts } = error;
    const advice = "if it answers single calls, leave its callsPerBatch out or lower it";
    throw new EndpointFailure(kind, `${message} to ${calls.length} calls in one request: ${advice}`, facts);
  }
}

/** Whether a node that takes no batches, or shorter ones, may have answered this. Nodes and providers have no word for it. */
function isRefusal(failure: EndpointFailure): boolean {
  return isAboutQuestion(failure) && failure.facts.isTooLarge !== true;
}

/** Finds the answer to each call by its id. Answers may come in any order; one to no call of the batch is ignored. */
function answersTo(calls: readonly WrittenCall[], answers: readonly unknown[]): readonly Outcome[] {
  const known = new Map<unknown, unknown>();
  const doubled = new Set<unknown>();
  for (const answer of answers.filter(isObject)) {
    const { id } = answer;
    if (known.has(id)) doubled.add(id);
    known.set(id, answer);
  }
  // One for all of them: a node that answers nothing of a batch has failed once.
  let garbled: EndpointFailure | undefined;
  return calls.map((call) => {
    if (!known.has(call.id) || doubled.has(call.id)) {
      garbled ??= new EndpointFailure("garbled", "not one answer to each call of a request");
      return rejected(garbled);
    }
    try {
      return fulfilled(resultIn(known.get(call.id), call));
    } catch (error) {
      return rejected(error);
    }
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new EndpointFailure("garbled", "an answer that is not JSON");
  }
}

function resultIn(answer: unknown, { id }: WrittenCall): unknown {
  expectShape(isObject(answer), "JSON-RPC answer");
  // A node that could not read the call does not know its id.
  refuseError(answer);
  expectShape(answer["jsonrpc"] === "2.0" && answer["id"] === id, "JSON-RPC answer to another call");
  expectShape("result" in answer, "JSON-RPC answer without a result");
  return answer["result"];
}

function refuseError({ error }: Readonly<Record<string, unknown>>): void {
  if (!isObject(error)) return;
  const code = typeof error["code"] === "number" ? error["code"] : 0;
  const words = typeof error["message"] === "string" ? error["message"] : "";
  throw new EndpointFailure("rpc", `JSON-RPC error ${code}`, { code, data: error["data"], words });
}

/** Wraps `post`: each of its calls is published under the name of the endpoint. */
export function publishedPost(post: RpcBatchFetch, endpoint: string, clock: Clock): RpcBatchFetch {
  return async (calls) => {
    const begunAt = clock.now();
    const outcomes = await post(calls);
    // A wall clock may be set back meanwhile.
    const durationMs = Math.max(0, clock.now() - begunAt);
    calls.forEach(({ method }, index) => {
      nodeAsked.publish(() => ({ endpoint, method, outcome: wordOf(outcomes[index]), durationMs }));
    });
    return outcomes;
  };
}

function wordOf(outcome: Outcome | undefined): string {
  if (outcome?.status === "fulfilled") return "answered";
  const reason: unknown = outcome?.reason;
  return reason instanceof EndpointFailure ? reason.kind : "closed";
}
