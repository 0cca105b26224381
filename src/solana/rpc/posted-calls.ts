/** Sends calls to a node, one or a batch of them, and finds the answer to each: https://www.jsonrpc.org/specification */
import { EndpointFailure, expectShape, isAboutQuestion } from "../endpoint-failure.ts";
import type { EndpointFetch } from "./bounded-fetch.ts";
import {
  fulfilled,
  isObject,
  rejected,
  type Outcome,
  type RpcBatchFetch,
  type WrittenCall,
} from "./rpc-call.ts";
import { nodeAsked } from "../../core/diagnostics.ts";
import type { Clock } from "../../core/runtime.ts";

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
