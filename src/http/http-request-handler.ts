/** Takes a request from its key to its answer, in the order of checks that all endpoints share. */
import type { PaymentService } from "../service/payment-service.ts";
import { requestAnswered } from "../core/diagnostics.ts";
import { PaymentError } from "../errors/errors.ts";
import type { Clock, Logger, Random } from "../core/runtime.ts";
import type { AccountWindowList } from "./rate-window.ts";
import type { Authentication } from "./authentication.ts";
import { clientAddressBy, type ClientLimit } from "./client-limit.ts";
import { CountedRequest } from "./counted-request.ts";
import type { Call, KeyedEndpoint, Reference, Served, TextStream } from "./contract/endpoint.ts";
import { errorAnswer, type BegunAnswer, loggedStream, responseOf, type WholeAnswer } from "./error-answer.ts";
import type { Connection } from "./node-listener.ts";
import { NOTHING_READ, readContents, type RequestContent } from "./read-contents.ts";
import { allowedMethods, endpointFor, type OpenRoute, type Route } from "./routes.ts";

/** A request and where it leads. */
interface Arrival {
  readonly request: Request;
  readonly path: string;
  /** The variable parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Null when there is nothing at this path. */
  readonly site: Route | null;
  readonly connection: Connection;
}

interface HttpRequestHandlerParts {
  readonly service: PaymentService;
  readonly authentication: Authentication;
  readonly windows: AccountWindowList;
  /** The limit on documents, which need no key. */
  readonly documents: ClientLimit;
  readonly reference: Reference;
  /** The path of the endpoints, "" at the root. */
  readonly basePath: string;
  readonly clientAddress: ((request: Request) => string | null) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const REQUEST_ID_BYTES = 16;
// Enough to recognise a path by; a longer one is neither echoed nor logged in full.
const MAX_PATH_LENGTH = 256;

/** Answers requests. An exception of an endpoint becomes an answer. */
export class HttpRequestHandler {
  readonly #parts: HttpRequestHandlerParts;

  constructor(parts: HttpRequestHandlerParts) {
    this.#parts = parts;
  }

  async respond(arrival: Arrival): Promise<Response> {
    const { clock } = this.#parts;
    const begunAt = clock.now();
    const answer = await this.#answer(arrival);
    requestAnswered.publish(() => ({
      method: knownMethod(arrival.request.method),
      route: arrival.site?.path ?? "none",
      status: answer.status,
      // A wall clock may be set back meanwhile.
      durationMs: Math.max(0, clock.now() - begunAt),
    }));
    return arrival.connection.send(answer);
  }

  async #answer(arrival: Arrival): Promise<WholeAnswer> {
    const { request, path, site } = arrival;
    const begun = this.#begin(request.method, path);
    try {
      return site?.kind === "open"
        ? this.#answerAnyone(arrival, site, begun.headers)
        : await this.#answerCaller(arrival, begun);
    } catch (thrown) {
      return errorAnswer(thrown, begun, this.#parts.log);
    }
  }

  /** The answer when there is no request to speak of, only what was thrown at the attempt to make one. */
  respondToFailure(thrown: unknown): Response {
    return responseOf(errorAnswer(thrown, this.#begin("", ""), this.#parts.log));
  }

  #begin(method: string, path: string): BegunAnswer {
    const requestId = `req_${Buffer.from(this.#parts.random.bytes(REQUEST_ID_BYTES)).toString("hex")}`;
    // Balances and payments are private: no cache keeps them.
    const headers = new Headers({ "x-request-id": requestId, "cache-control": "no-store" });
    return { label: { requestId, method, path: path.slice(0, MAX_PATH_LENGTH) }, headers };
  }

  #answerAnyone(arrival: Arrival, site: OpenRoute, headers: Headers): WholeAnswer {
    const { documents, reference } = this.#parts;
    documents.count(this.#clientOf(arrival), headers);
    const endpoint = endpointFor(site.methods, arrival.request.method);
    if (endpoint === undefined) return refuseMethod(arrival, site, headers);
    const { text, mediaType, headers: more } = endpoint.serve(reference, this.#baseOf(arrival));
    for (const [name, value] of Object.entries({ ...more, "content-type": mediaType })) {
      headers.set(name, value);
    }
    return { status: endpoint.answer.status, headers, text };
  }

  async #answerCaller(arrival: Arrival, begun: BegunAnswer): Promise<WholeAnswer> {
    const { service, authentication, windows } = this.#parts;
    const { headers } = begun;
    const { request, site, parameters: path } = arrival;
    const caller = await authentication.callerOf(request, this.#clientOf(arrival), headers);
    // Only now: a caller without a key learns nothing of what there is, not even a 405.
    const endpoint = site?.kind === "keyed" ? endpointFor(site.methods, request.method) : undefined;
    const mayBeReplay = endpoint?.method === "POST" && request.headers.has("idempotency-key");
    const counted = new CountedRequest({ service, windows, endpoint, caller, headers, mayBeReplay });
    const contents = await enter(arrival, endpoint, counted);
    if (site === null || endpoint === undefined) return refuseMethod(arrival, site, headers);
    const { onLimit, onNew, onReplay, onParties } = counted;
    const call: Call = {
      service,
      caller,
      path,
      ...contents,
      options: { ...contents.options, onLimit, onNew, onReplay, onParties },
      // A Request makes its signal when it is first read, and few endpoints need one.
      get signal() {
        return request.signal;
      },
      standings: () => windows.standings(caller),
    };
    const answer = await endpoint.serve(call);
    const text =
      typeof answer.text === "string" ? answer.text : await this.#streamFor(request, answer.text, begun);
    return success({ ...answer, text }, endpoint, { headers, base: this.#baseOf(arrival) });
  }

  async #streamFor({ method }: Request, text: TextStream, begun: BegunAnswer): Promise<TextStream | null> {
    // An exception before the first part is an error like any other.
    const first = await text.next();
    if (method !== "HEAD" && first.done !== true) {
      return loggedStream([first.value, text], begun, this.#parts.log);
    }
    await text.return();
    return null;
  }

  #clientOf({ request, connection }: Arrival): string | null {
    const { clientAddress } = this.#parts;
    return clientAddress === undefined ? connection.peer : clientAddressBy(clientAddress, request);
  }

  #baseOf({ connection }: Arrival): string {
    return `${connection.mountedAt}${this.#parts.basePath}`;
  }
}

/**
 * Checks before every endpoint: scope, limit, path, headers and body, in this order. A request refused here is counted
 * as well.
 */
async function enter(
  { request, path, site, connection }: Arrival,
  endpoint: KeyedEndpoint | undefined,
  counted: CountedRequest,
): Promise<RequestContent> {
  try {
    counted.enter();
    if (site === null) throw new PaymentError("NOT_FOUND", { path: path.slice(0, MAX_PATH_LENGTH) });
    return endpoint === undefined ? NOTHING_READ : await readContents(request, endpoint, connection);
  } catch (refusal) {
    throw await counted.refused(refusal);
  }
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** A stranger may invent methods, and each would be a series of its own where they are counted. */
function knownMethod(method: string): string {
  return METHODS.has(method) ? method : "other";
}

/** OPTIONS is answered with what there is; any other method that the path does not take is refused with the same list. */
function refuseMethod({ request: { method } }: Arrival, site: Route | null, headers: Headers): WholeAnswer {
  const allowed = site === null ? [] : allowedMethods(site);
  if (method !== "OPTIONS") throw new PaymentError("METHOD_NOT_ALLOWED", { method, allowed });
  headers.set("allow", [...allowed, "OPTIONS"].join(", "));
  return { status: 204, headers, text: null };
}

interface Destination {
  readonly headers: Headers;
  readonly base: string;
}

function success(
  { body, text, replayed }: Pick<Served<unknown>, "body" | "replayed"> & Pick<WholeAnswer, "text">,
  endpoint: KeyedEndpoint,
  { headers, base }: Destination,
): WholeAnswer {
  headers.set("content-type", endpoint.answer.mediaType ?? "application/json");
  if (replayed) headers.set("idempotent-replayed", "true");
  if (endpoint.location !== undefined) headers.set("location", `${base}${endpoint.location(body)}`);
  return { status: endpoint.answer.status, headers, text };
}
