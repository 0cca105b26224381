/** The payment service behind HTTP: one handler for `fetch` and `node:http`, mounted anywhere. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Hono, type Context } from "hono";
import { z } from "zod";
import type { PaymentService } from "../service/payment-service.ts";
import { HealthCache } from "../service/health-cache.ts";
import type { Authorize } from "../inspector/admit-viewer.ts";
import { Inspector, INSPECTOR_PATH } from "../inspector/inspector.ts";
import { checkOptions, functionOption, objectWith, optionsWith, runtimeOptions } from "../core/options.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import { systemClock } from "../core/runtime.ts";
import { AccountWindowList, RateWindow } from "./rate-window.ts";
import { Authentication, type CallerLookup, CredentialCache } from "./authentication.ts";
import { ClientLimit } from "./client-limit.ts";
import { PER_CLIENT, WINDOWS } from "./contract/limits.ts";
import { ENDPOINTS } from "./endpoints/every-endpoint.ts";
import { getDocsScript } from "./endpoints/reference.ts";
import { LIVE_PATH, liveAnswer, READY_PATH, readyAnswer } from "./health-probes.ts";
import { inspectorAnswer } from "./inspector-answer.ts";
import { NO_CONNECTION, nodeListener, type Connection } from "./node-listener.ts";
import { ApiReference } from "./api-reference.ts";
import { HttpRequestHandler } from "./http-request-handler.ts";
import { sitesOf, type Route } from "./routes.ts";

/** The service as a handler of requests. Both forms give the same answers and never throw. */
export interface HttpHandler {
  /** For anything that speaks the web's Request and Response. */
  fetch(this: void, request: Request): Promise<Response>;
  /**
   * For `node:http` and frameworks on it, before or after a body parser: a body that was read already is taken from
   * `rawBody` or `body`. A parsed body is fingerprinted by its JSON. A body that was read and left nowhere is answered
   * with `INTERNAL_ERROR`, and the log says what to do.
   */
  node(this: void, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

const inspectorOptions = optionsWith({
  authorize: functionOption<Authorize>().optional(),
  acts: z.boolean().optional(),
});
const perMinute = z.number().int().min(1).max(1_000_000);
const perTier = optionsWith({ free: perMinute, pro: perMinute, enterprise: perMinute });

const optionsSchema = optionsWith({
  service: objectWith<PaymentService>(
    ["authenticate", "createTransaction", "health", "tokens"],
    "a payment service: createPaymentService({ … })",
  ),
  /** The path of the endpoints, such as "/payments" for /payments/v1/tokens. Default "": at /v1. */
  basePath: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/, {
      error: 'expected "" or a path such as "/payments", without a slash at the end',
    })
    .default(""),
  /**
   * The host's own authentication instead of API keys; null refuses with `INVALID_API_KEY`. An error of the function is
   * answered with `INTERNAL_ERROR` and logged. To read the body, use `request.clone()`. Default: the service's API keys
   * in `Authorization: Bearer`.
   */
  authenticate: functionOption<(request: Request) => Promise<Caller | null>>().optional(),
  /**
   * Requests per minute and account, by tier, counted in each process by itself: P processes together let up to P times the
   * limit pass. Cancellations and webhook registrations have exact limits of their own, counted in the database.
   * `failedAuthentications` and `documents` are limits per minute and client address.
   */
  limits: optionsWith({
    /** Everything that only looks, unknown paths included. Default 120/600/3,000. */
    reads: perTier.default(WINDOWS.reads.perMinute),
    /** Quotes and their refreshes. Default 60/300/1,200. */
    quotes: perTier.default(WINDOWS.quotes.perMinute),
    /**
     * Senders and recipients that quotes ask about, also when they are refreshed. A quote that asks about more than the
     * limit takes the whole of it. Default 200/2,000/10,000.
     */
    quoteParties: perTier.default(WINDOWS.quoteParties.perMinute),
    /** Transactions, and changing or deleting webhooks. Default 30/150/600. */
    creates: perTier.default(WINDOWS.creates.perMinute),
    // modules: webhooks
    /** Tests of webhooks. Default 10/50/200. */
    webhookTests: perTier.default(WINDOWS.webhookTests.perMinute),
    /** Beyond it only keys that this process has seen to be good are looked up. Default 60. */
    failedAuthentications: perMinute.default(PER_CLIENT.failedAuthentications),
    /** Limit on reads of /v1/openapi.json and /v1/docs, which need no key. Default 60. */
    documents: perMinute.default(PER_CLIENT.documents),
  }).prefault({}),
  /**
   * The client's IP address behind a trusted proxy, null when unknown: what limits per address count, and what the
   * allowed addresses of a key are compared with. Clients can write anything into `X-Forwarded-For`: take what your own
   * proxy has added, which is the last. Anything but a string or null, and what it throws, is answered with
   * `INTERNAL_ERROR` and logged. Default: the socket's; none for `fetch`.
   */
  clientAddress: functionOption<(request: Request) => string | null>().optional(),
  /**
   * Serves the inspector at `/_inspector`: pages that show every chart and every stored instance, live and read-only.
   * `true` is for development: it answers this machine alone, and never on mainnet or before `start()`. `authorize` says
   * who may look instead, also in production; what it throws refuses. With `acts: true` who may look may also act: have a
   * task tried again or dropped, cancel, release, deliver again; each act is confirmed, and stands in the operator's audit
   * log. Default false.
   */
  inspector: z
    .union([z.boolean(), inspectorOptions], {
      error: "expected true, false, { authorize } or { acts }",
    })
    .default(false),
  /**
   * Answers `GET /health/live` and `GET /health/ready` below `basePath`, without a key, with `{ status }`: the first with
   * 200 while the process answers, the second with 503 while nothing can be taken, see `Health`. Default false.
   */
  health: z.boolean().default(false),
  /** The service's clock. Default: the machine's own. */
  clock: runtimeOptions.clock,
  /** Makes request ids. Default: the operating system's. */
  random: runtimeOptions.random,
  /** Told about every answer of 500 and 502, with its request id. Default: stderr. */
  logger: runtimeOptions.logger,
});

/** Options of `createHttpHandler`. Only the service has no default. @interface */
export type HttpHandlerOptions = z.input<typeof optionsSchema>;

type CheckedOptions = Readonly<z.output<typeof optionsSchema>>;

/** Hono finds the path; the method is judged after the key, so that a stranger learns nothing, not even a 405. */
type App = Hono<{ Bindings: Connection }>;
type AppContext = Context<{ Bindings: Connection }>;

/**
 * Builds the handler. The service is started and stopped by its owner. Throws `InvalidOptions` listing every problem.
 *
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { createServer } from "node:http";
 * import { createHttpHandler, createPaymentService } from "paystate";
 * import { solanaLedger } from "paystate/solana";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 *
 * const service = createPaymentService({
 *   storage: await sqliteStorage(":memory:"),
 *   ledger: solanaLedger({ endpoints: ["http://127.0.0.1:8899"] }),
 *   masterSecrets: [{ version: 1, secret: randomBytes(32) }],
 * });
 * const handler = createHttpHandler({ service });
 * export const server = createServer((request, response) => void handler.node(request, response));
 *
 * const response = await handler.fetch(new Request("https://pay.example/v1/tokens"));
 * console.log(response.status); // 401
 * ```
 */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const checked = checkOptions("createHttpHandler", optionsSchema, options);
  const responder = responderOf(checked);
  const app: App = new Hono();
  mountInspector(app, checked);
  if (checked.health) mountHealth(app, checked);
  for (const site of sitesOf([...ENDPOINTS, getDocsScript])) {
    app.all(`${checked.basePath}${site.pattern}`, (context) => answer(responder, site, context));
  }
  app.notFound((context) => answer(responder, null, context));

  const fetch = async (request: Request, connection: Connection): Promise<Response> =>
    app.fetch(request, connection);
  return {
    fetch: (request) => fetch(request, NO_CONNECTION),
    node: nodeListener(fetch, (thrown) => responder.respondToFailure(thrown)),
  };
}

function answer(
  responder: HttpRequestHandler,
  site: Route | null,
  { req, env }: AppContext,
): Promise<Response> {
  return responder.respond({
    request: req.raw,
    path: req.path,
    parameters: req.param(),
    site,
    connection: env,
  });
}

function responderOf({
  service,
  basePath,
  clientAddress,
  limits,
  ...checked
}: CheckedOptions): HttpRequestHandler {
  const { clock, random, logger: log } = checked;
  const { authenticate: ofHost } = checked;
  const ofKeys: CallerLookup = ({ headers }, address) =>
    service.authenticate(headers.get("authorization"), address);
  const windows = new AccountWindowList(limits, clock);
  const failures = new RateWindow({ scope: "authentication", clock });
  const authentication = new Authentication({
    authenticate: ofHost === undefined ? ofKeys : (request) => ofHost(request),
    failures: new ClientLimit(failures, limits.failedAuthentications),
    // A host's own credentials may stand anywhere in a request.
    known: ofHost === undefined ? new CredentialCache() : null,
  });
  return new HttpRequestHandler({
    service,
    authentication,
    windows,
    documents: new ClientLimit(new RateWindow({ scope: "documents", clock }), limits.documents),
    reference: new ApiReference(ENDPOINTS),
    basePath,
    clientAddress,
    clock,
    random,
    log,
  });
}

function mountHealth(app: App, { service, basePath, clock }: CheckedOptions): void {
  const health = new HealthCache(service, clock);
  // Hono answers HEAD wherever GET is answered.
  app.get(`${basePath}${LIVE_PATH}`, liveAnswer);
  app.get(`${basePath}${READY_PATH}`, () => readyAnswer(health));
}

/** The inspector's pages, where they were asked for. */
function mountInspector(
  app: App,
  { service, inspector, basePath, clock, logger: log }: CheckedOptions,
): void {
  if (inspector === false) return;
  const { authorize = null, acts = false } = inspector === true ? {} : inspector;
  const pages = new Inspector({
    inspected: service.inspected,
    authorize,
    acts,
    clock,
    pace: systemClock,
    log,
  });
  const show = ({ req, env }: AppContext): Promise<Response> => inspectorAnswer(pages, req.raw, env);
  app.all(`${basePath}${INSPECTOR_PATH}`, show);
  app.all(`${basePath}${INSPECTOR_PATH}/*`, show);
}
