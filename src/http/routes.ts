/** The endpoints of the contract: which scope and which limit each has, and which method of the service answers it. */
import type { PaymentService } from "../service/payment-service.ts";
import type { Answer, RequestOptions } from "../payments/accounts/answer-once.ts";
import type { Caller, Scope } from "../payments/accounts/caller.ts";
import type { DurableScope, LimitStanding } from "../payments/accounts/count-hit.ts";
import type {
  Recovery,
  QuoteRequest,
  TransactionRequest,
  WebhookRequest,
  WebhookTest,
  WebhookUpdate,
} from "../payments/requests.ts";

/** The limits that are counted in this process, per minute. */
export type WindowName = "reads" | "quotes" | "creates" | "webhookTests";

/** What is said to the caller: a status and the exact text of the body. */
export interface Reply {
  readonly status: 200 | 201;
  readonly text: string;
  /** True when this answer was given before, to the same Idempotency-Key. */
  readonly replayed?: boolean;
  /** The id of what was created, when it has an endpoint of its own below this one. */
  readonly created?: string;
}

/** An authenticated request whose headers and body were read. */
export interface Call {
  readonly service: PaymentService;
  readonly caller: Caller;
  /** The decoded variable part of the path; empty when the path has none. */
  readonly id: string;
  /** The second variable part; empty when the path has none. */
  readonly deliveryId: string;
  /** Parsed JSON of unknown shape; the service checks it. Undefined where no body is read. */
  readonly body: unknown;
  readonly options: RequestOptions;
  /** The query's parameters; the service checks them. Throws `VALIDATION_ERROR` for one that is there twice. */
  readonly query: () => Readonly<Record<string, unknown>>;
  /** Aborts when the caller is gone. */
  readonly signal: () => AbortSignal;
  /** How the account stands with the limits that are counted here. */
  readonly standings: () => readonly LimitStanding[];
}

/** One endpoint. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** In Hono's syntax; a variable part is called `id`, a second one `deliveryId`. */
  readonly path: string;
  /** What the key must be allowed to do; `any` key will do for what tells it about itself. */
  readonly scope: Scope | "any";
  /** A durable one is counted by the method that answers, across processes. */
  readonly limit: WindowName | DurableScope;
  /** `json` is required and parsed; `ignored` is read for the fingerprint only; `unread` is left alone. */
  readonly body: "json" | "ignored" | "unread";
  readonly answer: (call: Call) => Promise<Reply>;
}

// Our ids and any other word; what has other characters in it names nothing and is not looked up.
const ID = ":id{[A-Za-z0-9_-]+}";
const DELIVERY_ID = ":deliveryId{[A-Za-z0-9_-]+}";

/** Every endpoint that this version serves. */
export const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/tokens",
    scope: "tokens:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service }) => ok(service.tokens()),
  },
  {
    method: "GET",
    path: "/v1/balances/:id",
    scope: "balances:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, id }) => ok(await service.balances(id)),
  },
  {
    method: "POST",
    path: "/v1/quotes",
    scope: "quotes:write",
    limit: "quotes",
    body: "json",
    answer: async ({ service, caller, body, options }) =>
      said(201, await service.createQuote(caller, body as QuoteRequest, options)),
  },
  {
    method: "GET",
    path: `/v1/quotes/${ID}`,
    scope: "quotes:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, id }) => ok(await service.quote(caller, id)),
  },
  {
    method: "POST",
    path: `/v1/quotes/${ID}/refresh`,
    scope: "quotes:write",
    limit: "quotes",
    body: "ignored",
    answer: async ({ service, caller, id, options }) =>
      said(200, await service.refreshQuote(caller, id, options)),
  },
  {
    method: "POST",
    path: "/v1/transactions",
    scope: "transactions:write",
    limit: "creates",
    body: "json",
    answer: async ({ service, caller, body, options }) => {
      const answer = await service.createTransaction(caller, body as TransactionRequest, options);
      return { ...said(201, answer), created: answer.body.transactionId };
    },
  },
  {
    method: "GET",
    path: "/v1/transactions",
    scope: "transactions:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, query }) => ok(await service.listTransactions(caller, query())),
  },
  {
    method: "GET",
    path: `/v1/transactions/${ID}`,
    scope: "transactions:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, id, query, signal }) => {
      const options = query();
      // Nobody has to be there to be answered at once.
      const waiting = options["wait"] === undefined ? options : { ...options, signal: signal() };
      return ok(await service.transaction(caller, id, waiting));
    },
  },
  {
    method: "DELETE",
    path: `/v1/transactions/${ID}`,
    scope: "transactions:write",
    limit: "cancel",
    body: "unread",
    answer: async ({ service, caller, id, options }) =>
      ok(await service.cancelTransaction(caller, id, options)),
  },
  {
    method: "GET",
    path: `/v1/transactions/${ID}/events`,
    scope: "transactions:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, id, query }) =>
      ok(await service.transactionEvents(caller, id, query())),
  },
  {
    method: "GET",
    path: "/v1/events",
    scope: "transactions:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, query }) => ok(await service.events(caller, query())),
  },
  {
    method: "POST",
    path: "/v1/webhooks",
    scope: "webhooks:write",
    limit: "webhook_registration",
    body: "json",
    answer: async ({ service, caller, body, options }) =>
      said(201, await service.registerWebhook(caller, body as WebhookRequest, options)),
  },
  {
    method: "GET",
    path: "/v1/webhooks",
    scope: "webhooks:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller }) => ok(await service.webhooks(caller)),
  },
  {
    method: "GET",
    path: `/v1/webhooks/${ID}`,
    scope: "webhooks:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, id }) => ok(await service.webhook(caller, id)),
  },
  {
    method: "PUT",
    path: `/v1/webhooks/${ID}`,
    scope: "webhooks:write",
    limit: "creates",
    body: "json",
    answer: async ({ service, caller, id, body, options }) =>
      ok(await service.updateWebhook(caller, id, body as WebhookUpdate, options)),
  },
  {
    method: "DELETE",
    path: `/v1/webhooks/${ID}`,
    scope: "webhooks:write",
    limit: "creates",
    body: "unread",
    answer: async ({ service, caller, id }) => ok(await service.deleteWebhook(caller, id)),
  },
  {
    method: "POST",
    path: `/v1/webhooks/${ID}/test`,
    scope: "webhooks:write",
    limit: "webhookTests",
    body: "json",
    answer: async ({ service, caller, id, body, options }) =>
      said(200, await service.testWebhook(caller, id, body as WebhookTest, options)),
  },
  {
    method: "GET",
    path: `/v1/webhooks/${ID}/deliveries`,
    scope: "webhooks:read",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, id, query }) => ok(await service.deliveries(caller, id, query())),
  },
  {
    method: "POST",
    path: `/v1/webhooks/${ID}/deliveries/${DELIVERY_ID}/redeliver`,
    scope: "webhooks:write",
    limit: "creates",
    body: "ignored",
    answer: async ({ service, caller, id, deliveryId, options }) =>
      said(200, await service.redeliver(caller, { webhookId: id, deliveryId }, options)),
  },
  {
    method: "POST",
    path: `/v1/webhooks/${ID}/recover`,
    scope: "webhooks:write",
    limit: "creates",
    body: "json",
    answer: async ({ service, caller, id, body, options }) =>
      said(200, await service.recoverWebhook(caller, id, body as Recovery, options)),
  },
  {
    method: "GET",
    path: "/v1/account",
    scope: "any",
    limit: "reads",
    body: "unread",
    answer: async ({ service, caller, standings }) => {
      const account = await service.account(caller);
      return ok({ ...account, limits: [...standings(), ...account.limits] });
    },
  },
  {
    method: "GET",
    path: "/v1/openapi.json",
    scope: "tokens:read",
    limit: "reads",
    body: "unread",
    answer: async () => {
      // Loaded and made when it is asked for: most processes never are.
      const { openApiDocument } = await import("./openapi/document.ts");
      return ok(openApiDocument(ROUTES));
    },
  },
];

function ok(body: object): Reply {
  return { status: 200, text: JSON.stringify(body) };
}

/** The stored text itself, so that a replay is the same byte for byte. */
function said(status: Reply["status"], { text, replayed }: Answer<unknown>): Reply {
  return { status, text, replayed };
}

/** The endpoints by path and then by method. */
export function methodsByPath(routes: readonly Route[]): ReadonlyMap<string, ReadonlyMap<string, Route>> {
  const paths = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, Route>();
    paths.set(route.path, methods.set(route.method, route));
  }
  return paths;
}
