/** The payment service behind HTTP: one handler for `fetch` and `node:http`, mounted anywhere. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Hono } from "hono";
import { z } from "zod";
import type { PaymentService } from "../service/payment-service.ts";
import type { Authorize } from "../inspector/admit-viewer.ts";
import { Inspector, INSPECTOR_PATH } from "../inspector/inspector.ts";
import { checkOptions, functionOption, objectWith, runtimeOptions } from "../options.ts";
import type { Caller } from "../payments/accounts/caller.ts";
import type { Clock, Logger, Random } from "../runtime.ts";
import { createResponder } from "./answer-request.ts";
import type { PerTier } from "./admit-caller.ts";
import { KnownCredentials } from "./known-credentials.ts";
import { inspectorAnswer } from "./inspector-answer.ts";
import { NO_CONNECTION, nodeListener } from "./node-listener.ts";
import type { Connection } from "./node-listener.ts";
import { methodsByPath, ROUTES } from "./routes.ts";

/** What `createHttpHandler` is given. Only the service has no default. */
export interface HttpHandlerOptions {
  readonly service: PaymentService;
  /** Where the endpoints stand, such as "/payments" for /payments/v1/tokens. Default "": at /v1. */
  readonly basePath?: string;
  /**
   * The host's own authentication instead of API keys; null refuses with `INVALID_API_KEY`. What it throws is answered
   * with `INTERNAL_ERROR` and logged. If it has to see the body, it reads that of `request.clone()`. Default: the
   * service's API keys in `Authorization: Bearer`.
   */
  readonly authenticate?: (request: Request) => Promise<Caller | null>;
  /**
   * Requests per minute and account, by tier, counted in this process; cancellations and webhook registrations have
   * limits of their own, counted in the database. `failedAuthentications` is per minute and client address.
   */
  readonly limits?: {
    /** Everything that only looks, unknown paths included. Default 120/600/3,000. */
    readonly reads?: PerTier;
    /** Quotes and their refreshes. Default 60/300/1,200. */
    readonly quotes?: PerTier;
    /** Transactions, and changing or deleting webhooks. Default 30/150/600. */
    readonly creates?: PerTier;
    /** Tests of webhooks. Default 10/50/200. */
    readonly webhookTests?: PerTier;
    /** Beyond it only keys that this process has seen to be good are looked up. Default 60. */
    readonly failedAuthentications?: number;
  };
  /** The client's address behind a trusted proxy, null when unknown. Default: the socket's; none for `fetch`. */
  readonly clientAddress?: (request: Request) => string | null;
  /**
   * Serves the inspector at `/_inspector`: pages that show every chart and every stored instance, live and read-only.
   * `true` is for development: it answers this machine alone, and never on mainnet or before `start()`. `authorize` says
   * who may look instead, also in production; what it throws refuses. Default false.
   */
  readonly inspector?: boolean | { readonly authorize: Authorize };
  /** The service's clock. Default: the machine's own. */
  readonly clock?: Clock;
  /** Makes request ids. Default: the operating system's. */
  readonly random?: Random;
  /** Told about every answer of 500 and 502, with its request id. Default: stderr. */
  readonly logger?: Logger;
}

/** The service as a handler of requests. Both forms give the same answers and never throw. */
export interface HttpHandler {
  /** For anything that speaks the web's Request and Response. */
  fetch(this: void, request: Request): Promise<Response>;
  /**
   * For `node:http` and frameworks on it, before or after a body parser: a body that was read already is taken from
   * `rawBody` or `body`. Parsed by somebody else, it is fingerprinted as the JSON it parses to.
   */
  node(this: void, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

const perMinute = (free: number, pro: number, enterprise: number) => {
  const limit = z.number().int().min(1).max(1_000_000);
  return z.strictObject({ free: limit, pro: limit, enterprise: limit }).default({ free, pro, enterprise });
};

const optionsSchema = z.strictObject({
  service: objectWith<PaymentService>(
    ["authenticate", "createTransaction", "tokens"],
    "a payment service: createPaymentService({ … })",
  ),
  basePath: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/, {
      error: 'expected "" or a path such as "/payments", without a slash at the end',
    })
    .default(""),
  authenticate: functionOption<(request: Request) => Promise<Caller | null>>().optional(),
  limits: z
    .strictObject({
      reads: perMinute(120, 600, 3_000),
      quotes: perMinute(60, 300, 1_200),
      creates: perMinute(30, 150, 600),
      webhookTests: perMinute(10, 50, 200),
      failedAuthentications: z.number().int().min(1).max(1_000_000).default(60),
    })
    .prefault({}),
  clientAddress: functionOption<(request: Request) => string | null>().optional(),
  inspector: z
    .union([z.boolean(), z.strictObject({ authorize: functionOption<Authorize>() })], {
      error: "expected true, false or { authorize }",
    })
    .default(false),
  ...runtimeOptions,
});

/** Builds the handler. The service is started and stopped by its owner. Throws `InvalidOptions` listing every problem. */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const checked = checkOptions("createHttpHandler", optionsSchema, options);
  const { service, basePath, clientAddress, limits, clock, random, logger: log } = checked;
  const authenticate =
    checked.authenticate ??
    ((request: Request) => service.authenticate(request.headers.get("authorization")));
  const responder = createResponder({
    service,
    authenticate,
    // A host's own credentials may stand anywhere in a request.
    known: checked.authenticate === undefined ? new KnownCredentials() : null,
    clientAddress,
    limits,
    clock,
    random,
    log,
  });

  const inspector = inspectorOf(checked);

  // Hono finds the path; the method is judged after the key, so that a stranger learns nothing, not even a 405.
  const app = new Hono<{ Bindings: Connection }>();
  if (inspector !== null) {
    const show = ({ req, env }: { readonly req: { readonly raw: Request }; readonly env: Connection }) =>
      inspectorAnswer(inspector, req.raw, env);
    app.all(`${basePath}${INSPECTOR_PATH}`, show);
    app.all(`${basePath}${INSPECTOR_PATH}/*`, show);
  }
  for (const [path, methods] of methodsByPath(ROUTES)) {
    app.all(`${basePath}${path}`, ({ req, env }) =>
      responder.respond({
        request: req.raw,
        path: req.path,
        id: req.param("id") ?? "",
        deliveryId: req.param("deliveryId") ?? "",
        methods,
        connection: env,
      }),
    );
  }
  app.notFound(({ req, env }) =>
    responder.respond({
      request: req.raw,
      path: req.path,
      id: "",
      deliveryId: "",
      methods: null,
      connection: env,
    }),
  );

  const fetch = async (request: Request, connection: Connection): Promise<Response> =>
    app.fetch(request, connection);
  return {
    fetch: (request) => fetch(request, NO_CONNECTION),
    node: nodeListener(fetch, responder.respondToFailure),
  };
}

/** The inspector of a service, or null where it was not asked for. */
function inspectorOf({
  service,
  inspector,
  clock,
  logger: log,
}: Readonly<z.output<typeof optionsSchema>>): Inspector | null {
  if (inspector === false) return null;
  const authorize = inspector === true ? null : inspector.authorize;
  return new Inspector({ inspected: service.inspected, authorize, clock, log });
}
