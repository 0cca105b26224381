/** JSON-RPC calls without web3.js: the answer is parsed once, and checked by the one who asked. */
import type { Exchange } from "./bounded-fetch.ts";
import { expectShape } from "../endpoint-failure.ts";

/**
 * Calls a method of one node and resolves with the `result` of its answer, whose shape is not checked. Rejects with an
 * `EndpointFailure` when there is no answer, or an answer to another call.
 */
export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

const HEADERS = { "content-type": "application/json" };

/** Calls the node at this URL through `exchange`, which throws HTTP and JSON-RPC errors. */
export function rpcCaller(exchange: Exchange, url: string): RpcCall {
  let calls = 0;
  return async (method, params) => {
    calls += 1;
    const id = String(calls);
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const answer: unknown = JSON.parse(await exchange(url, { method: "POST", headers: HEADERS, body }));
    expectShape(isObject(answer), "JSON-RPC answer");
    expectShape(answer["jsonrpc"] === "2.0" && answer["id"] === id, "JSON-RPC answer to another call");
    expectShape("result" in answer, "JSON-RPC answer without a result");
    return answer["result"];
  };
}

/** True for what JSON writes as an object, and for nothing else. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
