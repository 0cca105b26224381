/** JSON-RPC 2.0: from a request body to an answer, one call or a batch, and notifications; faults included. */
import type { Clock } from "../../core/runtime.ts";
import type { ChainState } from "../chain-state.ts";
import type { Fault, FaultRules, RpcRequest } from "../faults.ts";
import { accountMethods } from "./account-methods.ts";
import { blockMethods } from "./block-methods.ts";
import { RpcCall, type RpcHandler } from "./call.ts";
import { RPC_CODE, RpcError } from "./errors.ts";
import { Feed } from "./feed.ts";
import { historyMethods } from "./history-methods.ts";
import { toJson } from "./json.ts";
import { submissionMethods } from "./submission-methods.ts";
import { tokenMethods } from "./token-methods.ts";

/** The way a call came in, and the methods to be had there. */
interface Door {
  readonly transport: RpcRequest["transport"];
  readonly methods: ReadonlyMap<string, RpcHandler>;
}

const METHODS: ReadonlyMap<string, RpcHandler> = new Map<string, RpcHandler>(
  [blockMethods, accountMethods, tokenMethods, historyMethods, submissionMethods].flatMap((group) =>
    Object.entries(group),
  ),
);

/** The methods of the HTTP port. */
export const HTTP_DOOR: Door = { transport: "http", methods: METHODS };

/** An HTTP answer; sockets use its body. */
export interface RpcAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A call as it is written. */
interface CallJson {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Agave bounds the body, which then holds some 450 of the shortest calls, and answers more in the same way. */
const MAX_CALLS_PER_BATCH = 500;

const TOO_LARGE: RpcAnswer = { status: 413, headers: {}, body: "" };
const NO_ANSWER: RpcAnswer = { status: 200, headers: {}, body: "" };

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

/** Answers request bodies, and tells subscribers. */
export class RpcServer {
  /** The subscriptions of all sockets. */
  readonly feed: Feed;
  readonly #chain: ChainState;
  readonly #faults: FaultRules;
  readonly #sleep: Clock["sleep"] | undefined;
  #subscriptions = 0;

  constructor(chain: ChainState, faults: FaultRules, sleep: Clock["sleep"] | undefined) {
    this.#chain = chain;
    this.#faults = faults;
    this.#sleep = sleep;
    this.feed = new Feed(chain, sleep);
  }

  /** The fault of a socket being opened, if any. A rule that throws simulates a failing node. */
  connectionFault(): Fault | undefined {
    try {
      return this.#faults.decide({ transport: "websocket", method: "connect", params: [] });
    } catch {
      return { kind: "refuse", status: 500 };
    }
  }

  /** A subscription's id: unique among all sockets, and 0 for the first, as on a real node. */
  nextSubscription(): number {
    this.#subscriptions += 1;
    return this.#subscriptions - 1;
  }

  /** The fault of a notification, if any. */
  notificationFault(method: string, result: unknown): Fault | undefined {
    return this.#faults.decide({ transport: "websocket", method, params: [result] });
  }

  /**
   * Answers a body with a body and an HTTP status; the body is empty when no answer was asked for. Never throws,
   * except that it ends with `signal`'s reason.
   */
  async answer(body: string, door: Door, signal?: AbortSignal): Promise<RpcAnswer> {
    let request: unknown;
    try {
      request = JSON.parse(body);
    } catch {
      return json(failure(null, new RpcError(RPC_CODE.parseError, "Parse error")));
    }
    try {
      if (!Array.isArray(request)) {
        const answer = await this.#one(request, door, signal);
        return answer === undefined ? NO_ANSWER : json(answer);
      }
      if (request.length === 0) {
        return json(failure(null, new RpcError(RPC_CODE.invalidRequest, "Invalid request")));
      }
      if (request.length > MAX_CALLS_PER_BATCH) return TOO_LARGE;
      // Begun in order: a batch that sends a transaction and then asks for its status gets the new status. As in agave,
      // calls do not wait for slow calls, and all are answered together.
      const answers = await Promise.all(request.map((one: unknown) => this.#one(one, door, signal)));
      const asked = answers.filter((answer) => answer !== undefined);
      return asked.length === 0 ? NO_ANSWER : json(asked);
    } catch (error) {
      if (error instanceof HttpFault) return { status: error.status, headers: error.headers, body: "" };
      throw error;
    }
  }

  /** `undefined` for a call without an id: it is carried out, and its caller wants no answer. */
  async #one(request: unknown, door: Door, signal: AbortSignal | undefined): Promise<object | undefined> {
    const { id, method, params = [] } = (request ?? {}) as CallJson;
    const isUnasked = typeof method === "string" && id === undefined;
    try {
      if (typeof method !== "string") throw new RpcError(RPC_CODE.invalidRequest, "Invalid request");
      const answers = door.methods.get(method);
      if (answers === undefined) throw new RpcError(RPC_CODE.methodNotFound, "Method not found");
      const list: unknown[] = Array.isArray(params) ? params : [];
      const { transport } = door;
      const result = await this.#result({ transport, method, params: list }, answers, signal);
      return isUnasked ? undefined : { jsonrpc: "2.0", result, id: id ?? null };
    } catch (error) {
      if (error instanceof HttpFault || signal?.aborted === true) throw error;
      return isUnasked ? undefined : failure(id ?? null, error);
    }
  }

  async #result(request: RpcRequest, answers: RpcHandler, signal: AbortSignal | undefined): Promise<unknown> {
    const fault = this.#faults.decide(request);
    await this.#before(fault, signal);
    const head = this.#chain.currentSlot() - (fault?.kind === "lag" ? fault.slots : 0);
    const firstSlot = fault?.kind === "restored" ? fault.firstSlot : 0;
    const node = { head, firstSlot, dropsSends: fault?.kind === "drop" };
    const call = new RpcCall(this.#chain, request.params, node);
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
        return this.#wait(fault.ms, signal);
      default:
        return Promise.resolve();
    }
  }

  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#sleep === undefined) throw new Error("A delay needs a clock with `sleep`.");
    return this.#sleep(ms, signal);
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
