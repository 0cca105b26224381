/** JSON-RPC 2.0: from a request body to an answer, one call or a batch, faults included. */
import type { Clock } from "../../runtime.ts";
import type { ChainState } from "../chain-state.ts";
import type { Fault, FaultRules, RpcRequest } from "../faults.ts";
import { accountMethods } from "./account-methods.ts";
import { blockMethods } from "./block-methods.ts";
import { RpcCall, type RpcMethod } from "./call.ts";
import { RPC_CODE, RpcError } from "./errors.ts";
import { historyMethods } from "./history-methods.ts";
import { toJson } from "./json.ts";
import { submissionMethods } from "./submission-methods.ts";
import { tokenMethods } from "./token-methods.ts";

const METHODS = new Map<string, RpcMethod>(
  [blockMethods, accountMethods, tokenMethods, historyMethods, submissionMethods].flatMap((group) =>
    Object.entries(group),
  ),
);

/** An HTTP answer, whatever the transport. */
export interface RpcAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A fault that replaces the HTTP answer of the whole request. */
class HttpFault extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, headers: Readonly<Record<string, string>> = {}) {
    super(`HTTP ${status}`);
    this.status = status;
    this.headers = headers;
  }
}

/** Answers request bodies. */
export class RpcServer {
  readonly #chain: ChainState;
  readonly #faults: FaultRules;
  readonly #sleep: Clock["sleep"] | undefined;

  constructor(chain: ChainState, faults: FaultRules, sleep: Clock["sleep"] | undefined) {
    this.#chain = chain;
    this.#faults = faults;
    this.#sleep = sleep;
  }

  /** Answers a body with a body and an HTTP status. Never throws, except that it ends with `signal`'s reason. */
  async answer(body: string, signal?: AbortSignal): Promise<RpcAnswer> {
    let request: unknown;
    try {
      request = JSON.parse(body);
    } catch {
      return json(failure(null, new RpcError(RPC_CODE.parseError, "Parse error")));
    }
    try {
      if (!Array.isArray(request)) return json(await this.#one(request, signal));
      if (request.length === 0) {
        return json(failure(null, new RpcError(RPC_CODE.invalidRequest, "Invalid request")));
      }
      const answers: object[] = [];
      // In order: a batch that sends and then asks gets the answer to what it sent.
      for (const one of request as unknown[]) answers.push(await this.#one(one, signal));
      return json(answers);
    } catch (error) {
      if (error instanceof HttpFault) return { status: error.status, headers: error.headers, body: "" };
      throw error;
    }
  }

  async #one(request: unknown, signal: AbortSignal | undefined): Promise<object> {
    const {
      id = null,
      method,
      params = [],
    } = (request ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
    try {
      if (typeof method !== "string") throw new RpcError(RPC_CODE.invalidRequest, "Invalid request");
      const answers = METHODS.get(method);
      if (answers === undefined) throw new RpcError(RPC_CODE.methodNotFound, "Method not found");
      const list: unknown[] = Array.isArray(params) ? params : [];
      return { jsonrpc: "2.0", result: await this.#result({ method, params: list }, answers, signal), id };
    } catch (error) {
      if (error instanceof HttpFault || signal?.aborted === true) throw error;
      return failure(id, error);
    }
  }

  async #result(request: RpcRequest, answers: RpcMethod, signal: AbortSignal | undefined): Promise<unknown> {
    const fault = this.#faults.decide(request);
    await this.#before(fault, signal);
    const head = this.#chain.currentSlot() - (fault?.kind === "lag" ? fault.slots : 0);
    const call = new RpcCall(this.#chain, request.params, { head, dropsSends: fault?.kind === "drop" });
    const honest = answers(call);
    if (fault?.kind === "lose-answer") throw new HttpFault(fault.status);
    // A lie is told about what the client would have read, so it is made from plain JSON.
    return fault?.kind === "lie" ? fault.answer(JSON.parse(toJson(honest))) : honest;
  }

  #before(fault: Fault | undefined, signal: AbortSignal | undefined): Promise<void> {
    switch (fault?.kind) {
      case "refuse":
        throw new HttpFault(fault.status, fault.headers);
      case "error":
        throw new RpcError(fault.code, fault.message, fault.data);
      case "hang":
        return untilAborted(signal);
      case "delay":
        if (this.#sleep === undefined) throw new Error("A delay needs a clock with `sleep`.");
        return this.#sleep(fault.ms, signal);
      default:
        return Promise.resolve();
    }
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void =>
      reject(new Error("The call ended without an answer.", { cause: signal?.reason }));
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

function failure(id: unknown, error: unknown): object {
  const known =
    error instanceof RpcError
      ? error
      : new RpcError(RPC_CODE.internalError, error instanceof Error ? error.message : String(error));
  return { jsonrpc: "2.0", error: { code: known.code, message: known.message, data: known.data }, id };
}

function json(value: unknown): RpcAnswer {
  return { status: 200, headers: { "content-type": "application/json" }, body: toJson(value) };
}
