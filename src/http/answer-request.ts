/** One request from its key to its answer, in the contract's order of checks. */
import type { PaymentService } from "../service/payment-service.ts";
import { PaymentError } from "../errors.ts";
import type { RequestOptions } from "../payments/accounts/answer-once.ts";
import { sha256Hex } from "../payments/ids.ts";
import type { Clock, Logger, Random } from "../runtime.ts";
import { AccountWindows } from "./admit-caller.ts";
import type { AccountLimits } from "./admit-caller.ts";
import { authenticateRequest } from "./authenticate-request.ts";
import type { Authenticate, Authentication } from "./authenticate-request.ts";
import { CountedRequest } from "./counted-request.ts";
import { errorResponse } from "./error-response.ts";
import type { RequestLabel } from "./error-response.ts";
import type { KnownCredentials } from "./known-credentials.ts";
import type { Connection } from "./node-listener.ts";
import { writeRateLimit } from "./rate-limit-headers.ts";
import { createRateWindow } from "./rate-window.ts";
import { readQuery } from "./read-query.ts";
import { checkLength, parseJson, readBody, requireJson } from "./read-json-body.ts";
import type { Reply, Route } from "./routes.ts";

/** A request and where it leads. */
export interface Arrival {
  readonly request: Request;
  readonly path: string;
  /** The variable part of the path, decoded. */
  readonly id: string;
  /** The second variable part, decoded. */
  readonly deliveryId: string;
  /** The endpoints of this path by method; null when there is nothing at this path. */
  readonly methods: ReadonlyMap<string, Route> | null;
  readonly connection: Connection;
}

/** Answers requests; neither method throws. */
export interface Responder {
  respond(this: void, arrival: Arrival): Promise<Response>;
  /** The answer when there is no request to speak of, only what was thrown at the attempt to make one. */
  respondToFailure(this: void, thrown: unknown): Response;
}

const REQUEST_ID_BYTES = 16;
// Enough to recognise a path by; a longer one is neither echoed nor logged in full.
const LONGEST_PATH = 256;

export function createResponder(deps: {
  readonly service: PaymentService;
  readonly authenticate: Authenticate;
  readonly known: KnownCredentials | null;
  readonly clientAddress: ((request: Request) => string | null) | undefined;
  readonly limits: AccountLimits & { readonly failedAuthentications: number };
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}): Responder {
  const { service, authenticate, known, clientAddress, limits, clock, random, log } = deps;
  const windows = new AccountWindows(limits, clock);
  const authentication: Authentication = {
    ...{ authenticate, known },
    failures: createRateWindow({ scope: "authentication", clock }),
    limit: limits.failedAuthentications,
  };

  const open = (method: string, path: string): { label: RequestLabel; headers: Headers } => {
    const requestId = `req_${Buffer.from(random.bytes(REQUEST_ID_BYTES)).toString("hex")}`;
    // Balances and payments are nobody else's business: no cache keeps them.
    const headers = new Headers({ "x-request-id": requestId, "cache-control": "no-store" });
    return { label: { requestId, method, path: path.slice(0, LONGEST_PATH) }, headers };
  };

  const answer = async (
    { request, path, id, deliveryId, methods, connection }: Arrival,
    headers: Headers,
  ): Promise<Response> => {
    const address = clientAddress === undefined ? connection.peer : clientAddress(request);
    const caller = await authenticateRequest(request, address, headers, authentication);
    const { method } = request;
    const route = methods?.get(method === "HEAD" ? "GET" : method);
    const mayBeReplay = route?.method === "POST" && request.headers.has("idempotency-key");
    const counted = new CountedRequest({ service, windows, route, caller, headers, mayBeReplay });
    const { onNew } = counted;
    const read = async (): Promise<Awaited<ReturnType<typeof readCall>>> => {
      counted.enter();
      if (methods === null) throw new PaymentError("NOT_FOUND", { path: path.slice(0, LONGEST_PATH) });
      return route === undefined ? { body: undefined, options: {} } : readCall(request, route, connection);
    };
    const { body, options } = await read().catch(async (refusal: unknown) => {
      throw await counted.refused(refusal);
    });
    if (methods === null || route === undefined) return refuseMethod(method, methods ?? new Map(), headers);

    const onLimit: NonNullable<RequestOptions["onLimit"]> = (standing) => writeRateLimit(headers, standing);
    const reply = await route.answer({
      ...{ service, caller, id, deliveryId, body, options: { ...options, onLimit, onNew } },
      query: () => readQuery(request.url),
      signal: () => request.signal,
      standings: () => windows.standings(caller),
    });
    if (reply.replayed === true) await counted.replayed();
    return success(reply, `${connection.mountedAt}${path}`, headers);
  };

  return {
    async respond(arrival) {
      const { label, headers } = open(arrival.request.method, arrival.path);
      try {
        return await answer(arrival, headers);
      } catch (thrown) {
        return errorResponse(thrown, headers, label, log);
      }
    },
    respondToFailure(thrown) {
      const { label, headers } = open("", "");
      return errorResponse(thrown, headers, label, log);
    },
  };
}

/** The parsed body and what the headers say about repeating the request. */
async function readCall(
  request: Request,
  { body: kind }: Route,
  connection: Connection,
): Promise<{ body: unknown; options: RequestOptions }> {
  if (kind === "unread") return { body: undefined, options: {} };
  if (kind === "json") requireJson(request.headers);
  const { readBefore } = connection;
  const bytes = readBefore === null ? await readBody(request) : checkLength(readBefore());
  const idempotencyKey = request.headers.get("idempotency-key");
  const options = {
    fingerprint: sha256Hex(bytes),
    ...(idempotencyKey === null ? {} : { idempotencyKey }),
  };
  return { body: kind === "json" ? parseJson(bytes) : undefined, options };
}

/** OPTIONS is answered with what there is; any other unknown method is refused with the same list. */
function refuseMethod(method: string, methods: ReadonlyMap<string, Route>, headers: Headers): Response {
  const allowed = [...methods.keys()].flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
  if (method !== "OPTIONS") throw new PaymentError("METHOD_NOT_ALLOWED", { method, allowed });
  headers.set("allow", [...allowed, "OPTIONS"].join(", "));
  return new Response(null, { status: 204, headers });
}

function success({ status, text, replayed, created }: Reply, path: string, headers: Headers): Response {
  headers.set("content-type", "application/json");
  if (replayed === true) headers.set("idempotent-replayed", "true");
  if (created !== undefined) headers.set("location", `${path}/${created}`);
  return new Response(text, { status, headers });
}
