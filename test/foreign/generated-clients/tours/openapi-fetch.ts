/** The whole API with openapi-fetch over the types that openapi-typescript makes. */
import assert from "node:assert/strict";
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./generated/paths.ts";
import type { TourScene } from "../tour-scene.ts";

type Api = Client<paths>;

/** What a tour goes through, in order. */
export async function tour(scene: TourScene): Promise<void> {
  const { baseUrl, key } = scene;
  const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });
  await look(api, scene);
  const webhookId = await registerWebhook(api, scene);
  await send(api, scene);
  await orderPrivately(api, scene);
  await cancel(api, scene);
  await catchUp(api, webhookId);
  await beRefused(api, scene);
}

/** The data, or what was refused as an error of the test. */
function got<Data>(answer: { readonly data?: Data; readonly error?: unknown }): NonNullable<Data> {
  const { data, error } = answer;
  assert.ok(data !== undefined && data !== null, JSON.stringify(error));
  return data;
}

async function look(api: Api, { sender }: TourScene): Promise<void> {
  const { tokens } = got(await api.GET("/v1/tokens"));
  assert.deepEqual(
    tokens.map(({ symbol }) => symbol),
    ["SOL", "USDC", "USDT"],
  );
  const balances = got(await api.GET("/v1/balances/{address}", { params: { path: { address: sender } } }));
  assert.equal(balances.tokens.find(({ symbol }) => symbol === "USDC")?.balance, "500");
  const { tier, limits } = got(await api.GET("/v1/account"));
  assert.equal(tier, "pro");
  assert.ok(limits.every(({ remaining, limit }) => remaining <= limit));
  assert.match(got(await api.GET("/v1/openapi.json")).openapi, /^3\.1/);
  assert.match(got(await api.GET("/v1/docs", { parseAs: "text" })), /^<!doctype html>/i);
}

async function registerWebhook(api: Api, { receiverUrl }: TourScene): Promise<string> {
  const { webhookId } = got(
    await api.POST("/v1/webhooks", {
      body: {
        url: receiverUrl,
        events: ["transaction.pending", "transaction.completed"],
        secret: "a secret of the tour",
      },
    }),
  );
  const params = { path: { webhookId } };
  const { events } = got(
    await api.PUT("/v1/webhooks/{webhookId}", { params, body: { events: ["transaction.completed"] } }),
  );
  assert.deepEqual(events, ["transaction.completed"]);
  assert.deepEqual(got(await api.GET("/v1/webhooks/{webhookId}", { params })).events, events);
  const { webhooks } = got(await api.GET("/v1/webhooks"));
  assert.deepEqual(
    webhooks.map((webhook) => webhook.webhookId),
    [webhookId],
  );
  const tested = got(
    await api.POST("/v1/webhooks/{webhookId}/test", { params, body: { event: "transaction.completed" } }),
  );
  assert.deepEqual([tested.delivered, tested.httpStatus, tested.error], [true, 200, null]);
  return webhookId;
}

async function send(api: Api, scene: TourScene): Promise<void> {
  const { sender } = scene;
  const recipients = [{ address: scene.recipient, amount: "1.5" }];
  const { quoteId } = got(
    await api.POST("/v1/quotes", {
      body: { inputAsset: "USDC", outputAsset: "USDC", amount: "1.5", sender, recipients },
    }),
  );
  const ofQuote = { params: { path: { quoteId } } };
  const { transaction = "" } = got(await api.POST("/v1/quotes/{quoteId}/refresh", ofQuote));
  assert.equal(got(await api.GET("/v1/quotes/{quoteId}", ofQuote)).status, "open");
  const create = () =>
    api.POST("/v1/transactions", {
      params: { header: { "Idempotency-Key": "the-tours-first" } },
      body: {
        type: "send",
        quoteId,
        sender,
        recipients,
        signedTransaction: scene.sign(transaction),
        reference: "tour",
      },
    });
  const created = got(await create());
  const again = await create();
  assert.deepEqual([got(again), again.response.headers.get("idempotent-replayed")], [created, "true"]);
  assert.ok(created.mode === "wallet");
  await scene.settle();
  const path = { transactionId: created.transactionId };
  const { status, signature, blockTime } = got(
    await api.GET("/v1/transactions/{transactionId}", { params: { path, query: { wait: 1 } } }),
  );
  assert.deepEqual([status, signature, typeof blockTime], ["completed", created.signature, "number"]);
  const month = { from: "2020-01-01T00:00:00Z", to: "2020-01-31T00:00:00Z" };
  const exported = api.GET("/v1/transactions/export", { params: { query: month }, parseAs: "text" });
  assert.match(got(await exported), /^transactionId,.*\r\n#end,0\r\n$/);
  const { data } = got(await api.GET("/v1/transactions", { params: { query: { reference: "tour" } } }));
  assert.deepEqual(
    data.map(({ transactionId }) => transactionId),
    [created.transactionId],
  );
  const timeline = got(await api.GET("/v1/transactions/{transactionId}/events", { params: { path } }));
  assert.deepEqual(
    timeline.data.map(({ event }) => event),
    ["transaction.completed", "transaction.confirmed", "transaction.pending"],
  );
}

/** A quoted private order that waits for its deposit. */
async function order(api: Api, { sender, recipient }: TourScene, amount: string) {
  const { quoteId } = got(
    await api.POST("/v1/quotes", {
      body: { inputAsset: "USDC", outputAsset: "USDC", amount, mode: "private" },
    }),
  );
  const recipients = [{ address: recipient, amount }];
  const created = got(
    await api.POST("/v1/transactions", {
      body: { type: "send", mode: "private", quoteId, sender, recipients },
    }),
  );
  assert.ok(created.mode === "private");
  return created;
}

async function orderPrivately(api: Api, scene: TourScene): Promise<void> {
  const { ephemeralAddress, depositAmount, transactionId } = await order(api, scene, "2");
  await scene.deposit(ephemeralAddress, Number(depositAmount));
  await scene.settle();
  const { status, received, recipients } = got(
    await api.GET("/v1/transactions/{transactionId}", { params: { path: { transactionId } } }),
  );
  assert.deepEqual([status, received?.length, recipients[0]?.status], ["completed", 1, "paid"]);
}

async function cancel(api: Api, scene: TourScene): Promise<void> {
  const { transactionId } = await order(api, scene, "3");
  const params = { path: { transactionId } };
  assert.equal(got(await api.DELETE("/v1/transactions/{transactionId}", { params })).status, "cancelled");
  const { error } = await api.DELETE("/v1/transactions/{transactionId}", { params });
  assert.ok(error?.error.code === "CANNOT_CANCEL");
  const { currentStatus, allowedStatuses } = error.error.details;
  assert.deepEqual([currentStatus, allowedStatuses], ["cancelled", ["pending"]]);
}

async function catchUp(api: Api, webhookId: string): Promise<void> {
  const { data: events } = got(
    await api.GET("/v1/events", { params: { query: { order: "asc", limit: 2 } } }),
  );
  assert.deepEqual(
    events.map(({ event, data }) => [event, data.reference]),
    [
      ["transaction.pending", "tour"],
      ["transaction.confirmed", "tour"],
    ],
  );
  const path = { webhookId };
  const { data } = got(await api.GET("/v1/webhooks/{webhookId}/deliveries", { params: { path } }));
  const [delivery] = data;
  assert.ok(delivery !== undefined && delivery.status === "delivered");
  const { deliveryId } = delivery;
  const again = await api.POST("/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver", {
    params: { path: { webhookId, deliveryId } },
  });
  assert.equal(got(again).eventId, delivery.eventId);
  const body = { since: "2020-01-01T00:00:00Z" };
  const { recovered } = got(await api.POST("/v1/webhooks/{webhookId}/recover", { params: { path }, body }));
  assert.equal(typeof recovered, "number");
  assert.equal(got(await api.DELETE("/v1/webhooks/{webhookId}", { params: { path } })).deleted, true);
  const gone = await api.DELETE("/v1/webhooks/{webhookId}", { params: { path } });
  assert.ok(gone.error?.error.code === "WEBHOOK_NOT_FOUND");
  assert.equal(gone.error.error.details.webhookId, webhookId);
}

async function beRefused(api: Api, { sender, recipient }: TourScene): Promise<void> {
  const { error: quote } = await api.POST("/v1/transactions", {
    body: {
      type: "send",
      mode: "private",
      quoteId: "quote_0",
      sender,
      recipients: [{ address: recipient, amount: "1" }],
    },
  });
  assert.ok(quote?.error.code === "INVALID_QUOTE");
  const { reason, requestId } = quote.error.details;
  assert.deepEqual([reason, requestId.startsWith("req_")], ["not_found", true]);
  const { error: url } = await api.POST("/v1/webhooks", {
    body: { url: "http://plain.example", events: ["transaction.completed"] },
  });
  assert.ok(url?.error.code === "INVALID_URL" && url.error.details.reason === "not_https");
  // @ts-expect-error A misspelt field is found by the compiler, and refused by the service.
  const { error: misspelt } = await api.POST("/v1/quotes", { body: { inputAset: "SOL", amount: "1" } });
  assert.ok(misspelt?.error.code === "VALIDATION_ERROR");
  assert.ok(misspelt.error.details.fields.some(({ path }) => path === "inputAset"));
}
