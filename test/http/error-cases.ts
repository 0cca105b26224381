/** A request for every error that an endpoint declares: by the code where endpoints of one kind share the way, otherwise by both. */
import type { ErrorCode } from "../../src/errors/errors.ts";
import { bodyUse, type KeyedEndpoint } from "../../src/http/contract/endpoint.ts";
import type { HttpHandler } from "../../src/http/create-http-handler.ts";
import { isDurable } from "../../src/http/contract/limits.ts";
import { SCOPES } from "../../src/payments/frame/accounts/caller.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import {
  cancelOf,
  draftOf,
  fields,
  lastId,
  quoted,
  refreshOf,
  send,
  signedBy,
  withHeader,
  withoutAnswers,
  withoutNodes,
  type Asking,
  type ErrorCase,
} from "./asking.ts";
import { PRIVATE_ERRORS } from "./private-cases.ts";
import { PRIVATE_SWAP_ERRORS } from "./private-swap-cases.ts";
import { SWAP_ERRORS } from "./swap-cases.ts";
import { BY } from "../kit/by.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { unreadable } from "../kit/unreadable.ts";

const ONE = { free: 1, pro: 1, enterprise: 1 };

/** A handler whose database cannot be reached. */
function withoutDatabase({ world: { payments, handlerWith } }: Asking): HttpHandler {
  const away = (): Promise<never> =>
    Promise.reject(new StorageUnusable("unavailable", "the connection to PostgreSQL was lost"));
  const storage = { ...payments.storage, commit: away, get: away, find: away };
  return handlerWith({ service: payments.another({ storage }) });
}

/** What follows from what an endpoint is. */
export const CASES_OF_ANY: Readonly<Partial<Record<ErrorCode, ErrorCase>>> = {
  INVALID_API_KEY: (asking) => send(asking, withHeader(draftOf(asking), "authorization", "Bearer x")),
  STORAGE_UNAVAILABLE: (asking) => send(asking, draftOf(asking), withoutDatabase(asking)),
  INSUFFICIENT_SCOPE: async (asking) => {
    const { world, tenant, endpoint } = asking;
    const scopes = SCOPES.filter((scope) => scope !== endpoint.scope);
    const { accountId } = tenant.caller;
    const { key } = await world.payments.service.issueKey({ accountId, environment: "test", scopes });
    return send(asking, withHeader(draftOf(asking), "authorization", `Bearer ${key}`));
  },
  RATE_LIMIT_EXCEEDED: async (asking) => {
    const { world, endpoint } = asking;
    const limits = {
      reads: ONE,
      quotes: ONE,
      creates: ONE,
      webhookTests: ONE, // modules: webhooks
      documents: 1,
    };
    const handler = world.handlerWith({ limits, clientAddress: () => "203.0.113.7" });
    const tenant = await world.tenant("free");
    const isCounted = endpoint.scope !== "none" && isDurable(endpoint.limit);
    // A webhook's change counts as a registration only when it brings a URL, which stands in the example.
    for (let left = isCounted ? 10 : 1; left > 0; left--) {
      await send(asking, draftOf({ ...asking, tenant }), handler);
    }
    return send(asking, draftOf({ ...asking, tenant }), handler);
  },
  INTERNAL_ERROR: (asking) => {
    const clientAddress = (): never => {
      throw new Error("the proxy's header is missing");
    };
    return send(asking, draftOf(asking), asking.world.handlerWith({ clientAddress }));
  },
  VALIDATION_ERROR: (asking) => {
    const endpoint = asking.endpoint as KeyedEndpoint;
    const draft = draftOf(asking);
    if (bodyUse(endpoint) === "json") return send(asking, { ...draft, body: "[]" });
    if (endpoint.method === "POST") return send(asking, withHeader(draft, "idempotency-key", "a b"));
    return send(asking, { ...draft, target: `${draft.target}?unknown=1` });
  },
  PAYLOAD_TOO_LARGE: (asking) => send(asking, draftOf(asking, { body: `"${"x".repeat(65_536)}"` })),
  UNSUPPORTED_MEDIA_TYPE: (asking) =>
    send(asking, withHeader(draftOf(asking, { body: "{}" }), "content-encoding", "gzip")),
  IDEMPOTENCY_KEY_REUSED: async (asking) => {
    const draft = withHeader(draftOf(asking), "idempotency-key", "k");
    await send(asking, draft);
    return send(asking, { ...draft, body: `${draft.body ?? ""} ` });
  },
  NOT_FOUND: (asking) => send(asking, lastId(asking, "a/b")),
  TRANSACTION_NOT_FOUND: (asking) => send(asking, lastId(asking, "tx_0", "transactionId")),
  QUOTE_NOT_FOUND: (asking) => send(asking, lastId(asking, "quote_0")),
  WEBHOOK_NOT_FOUND: (asking) => send(asking, lastId(asking, "wh_0", "webhookId")),
  DELIVERY_NOT_FOUND: (asking) => send(asking, lastId(asking, "dlv_0")),
  INVALID_URL: (asking) => send(asking, fields(asking, { url: "http://plain.example" })),
  INVALID_EVENTS: (asking) => send(asking, fields(asking, { events: ["x"] })),
  URL_UNREACHABLE: (asking) => send(asking, fields(asking, { url: "https://127.0.0.1:59999/" })),
  ACCOUNT_SUSPENDED: async (asking) => {
    const { world, tenant } = asking;
    await world.payments.service.operator.suspendAccount(tenant.caller.accountId, BY);
    return send(asking, draftOf(asking));
  },
  SERVICE_PAUSED: async (asking) => {
    const { accountId } = asking.tenant.caller;
    await asking.world.payments.service.operator.pause({ accountId }, BY);
    return send(asking, draftOf(asking));
  },
  UPSTREAM_ERROR: (asking) => withoutNodes(asking.world, () => send(asking, draftOf(asking))),
  // With a key every POST has something to commit.
  OUTCOME_UNKNOWN: (asking) =>
    send(asking, withHeader(draftOf(asking), "idempotency-key", "unknown"), withoutAnswers(asking)),
  AMOUNT_TOO_LARGE: async (asking) => {
    const { accountId } = asking.tenant.caller;
    const limit = { accountId, asset: "USDC", perTransaction: "1" };
    await asking.world.payments.service.operator.setLimits(limit, BY);
    return send(asking, draftOf(asking));
  },
};

/** Errors that only the request of a module produces: that of any endpoint meets another one before. */
export const BROUGHT: ReadonlySet<string> = new Set([
  "cancelTransaction UPSTREAM_ERROR",
  "cancelTransaction OUTCOME_UNKNOWN",
]);

/** What leaves its tenant as it was. */
export const HARMLESS: ReadonlySet<ErrorCode> = new Set([
  "INVALID_API_KEY",
  "STORAGE_UNAVAILABLE",
  "INSUFFICIENT_SCOPE",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
  "VALIDATION_ERROR",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "NOT_FOUND",
  "TRANSACTION_NOT_FOUND",
  "QUOTE_NOT_FOUND",
  "WEBHOOK_NOT_FOUND",
  "DELIVERY_NOT_FOUND",
  "INVALID_URL",
  "INVALID_EVENTS",
  "URL_UNREACHABLE",
]);

const NOBODY = { recipients: [{ address: "x", amount: "25" }] };

/** Somebody of this tenant whose account is still to be frozen. */
function coldWallet({ world: { payments }, tenant }: Asking): Wallet {
  const funds = { lamports: 1_000_000_000n, usdc: 100_000_000n };
  return payments.wallet(`cold ${tenant.caller.accountId}`, funds);
}

/** What only this endpoint refuses, or what it refuses in a way of its own, by operation and code. */
export const CASES_OF_ONE: Readonly<Record<string, ErrorCase>> = {
  ...PRIVATE_ERRORS,
  ...SWAP_ERRORS,
  ...PRIVATE_SWAP_ERRORS,
  "getBalances INVALID_ADDRESS": (asking) => send(asking, draftOf(asking, { target: "/v1/balances/x" })),
  "createQuote INVALID_RECIPIENT": (asking) => send(asking, fields(asking, NOBODY)),
  "createQuote TRANSACTION_WOULD_FAIL": async (asking) => {
    const { payments } = asking.world;
    const cold = coldWallet(asking);
    await payments.freeze(cold, "USDC");
    return send(asking, fields(asking, { sender: cold.address }));
  },
  "refreshQuote INVALID_RECIPIENT": async (asking) => {
    const { payments, sender } = asking.world;
    const address = payments.mints.USDC;
    const wish = { inputAsset: "USDC", outputAsset: "USDC", amount: "1", sender: sender.address };
    const lift = payments.chain.faults.add(unreadable(address));
    const { quoteId } = await quoted(asking, { ...wish, recipients: [{ address, amount: "1" }] });
    lift();
    return send(asking, refreshOf(asking, quoteId));
  },
  "refreshQuote TRANSACTION_WOULD_FAIL": async (asking) => {
    const cold = coldWallet(asking);
    const wish = { inputAsset: "USDC", outputAsset: "USDC", amount: "1", sender: cold.address };
    const { quoteId } = await quoted(asking, wish);
    await asking.world.payments.freeze(cold, "USDC");
    return send(asking, refreshOf(asking, quoteId));
  },
  "listTransactions INVALID_ASSET": (asking) => {
    const draft = draftOf(asking);
    return send(asking, { ...draft, target: `${draft.target}?asset=DOGE` });
  },
  "createQuote INVALID_ASSET": (asking) => send(asking, fields(asking, { inputAsset: "DOGE" })),
  "createQuote AMOUNT_TOO_SMALL": (asking) =>
    send(asking, fields(asking, { amount: "0.0009", recipients: undefined })),
  "refreshQuote INVALID_QUOTE": async (asking) => {
    const draft = draftOf(asking);
    asking.world.payments.clock.advance(15 * 60_000);
    return send(asking, draft);
  },
  "createTransaction INVALID_RECIPIENT": (asking) => send(asking, fields(asking, NOBODY)),
  "createTransaction INVALID_SIGNATURE": (asking) =>
    send(asking, fields(asking, { signedTransaction: "AAAA" })),
  "createTransaction DUPLICATE_TRANSACTION": async (asking) => {
    await send(asking, draftOf(asking));
    return send(asking, fields(asking, { reference: "another" }));
  },
  "createTransaction INVALID_QUOTE": (asking) => send(asking, fields(asking, { quoteId: "quote_0" })),
  "createTransaction INSUFFICIENT_BALANCE": async (asking) => {
    const { payments } = asking.world;
    const poor = payments.wallet(`poor ${asking.tenant.caller.accountId}`, {
      lamports: 1_000_000_000n,
      usdc: 1n,
    });
    return send(asking, await signedBy(asking, poor));
  },
  "createTransaction TRANSACTION_WOULD_FAIL": async (asking) => {
    const { payments } = asking.world;
    const cold = coldWallet(asking);
    const draft = await signedBy(asking, cold);
    await payments.freeze(cold, "USDC");
    return send(asking, draft);
  },
  "createTransaction VOLUME_LIMIT_EXCEEDED": async (asking) => {
    const { accountId } = asking.tenant.caller;
    const limit = { accountId, asset: "USDC", perDay: "1" };
    await asking.world.payments.service.operator.setLimits(limit, BY);
    return send(asking, draftOf(asking));
  },
  "cancelTransaction UNAUTHORIZED": async (asking) => {
    const other = await asking.world.tenant();
    return send(asking, cancelOf(asking, other.belongings(false).get("{transactionId}") ?? ""));
  },
  "cancelTransaction CANNOT_CANCEL": (asking) => send(asking, draftOf(asking)),
  "cancelTransaction ALREADY_PROCESSED": async (asking) => {
    const { payments, sender, recipient } = asking.world;
    const sent = await payments.send(asking.tenant.caller, {
      from: sender,
      to: recipient.address,
      amount: "2",
    });
    await payments.service.settled();
    return send(asking, cancelOf(asking, sent.transactionId));
  },
  // modules: webhooks
  "registerWebhook WEBHOOK_LIMIT_EXCEEDED": async (asking) => {
    const free = { ...asking, tenant: await asking.world.tenant("free") };
    for (let more = 2; more > 0; more--) await send(free, draftOf(free));
    return send(free, draftOf(free));
  },
  "testWebhook INVALID_EVENTS": (asking) => send(asking, fields(asking, { event: "x" })), // modules: webhooks
};
