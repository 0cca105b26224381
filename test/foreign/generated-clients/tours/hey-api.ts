/** The whole API with the functions that @hey-api/openapi-ts makes, one for each operation. */
import assert from "node:assert/strict";
import { createClient } from "./generated/client/index.ts";
import * as api from "./generated/index.ts";
import type { TourScene } from "../tour-scene.ts";

type Client = ReturnType<typeof createClient>;

/** What a tour goes through, in order. */
export async function tour(scene: TourScene): Promise<void> {
  const { baseUrl, key } = scene;
  const client = createClient({ baseUrl, auth: key });
  await look(client, scene);
  const webhookId = await registerWebhook(client, scene);
  await send(client, scene);
  await orderPrivately(client, scene);
  await cancel(client, scene);
  await catchUp(client, webhookId);
  await beRefused(client, scene);
}

/** The data, or what was refused as an error of the test. */
function got<Data>(answer: { readonly data?: Data; readonly error?: unknown }): NonNullable<Data> {
  const { data, error } = answer;
  assert.ok(data !== undefined && data !== null, JSON.stringify(error));
  return data;
}

async function look(client: Client, { sender }: TourScene): Promise<void> {
  const { tokens } = got(await api.listTokens({ client }));
  assert.deepEqual(
    tokens.map(({ symbol }) => symbol),
    ["SOL", "USDC", "USDT"],
  );
  const balances = got(await api.getBalances({ client, path: { address: sender } }));
  assert.equal(balances.tokens.find(({ symbol }) => symbol === "USDC")?.balance, "500");
  const { tier, limits } = got(await api.getAccount({ client }));
  assert.equal(tier, "pro");
  assert.ok(limits.every(({ remaining, limit }) => remaining <= limit));
  assert.match(got(await api.getOpenApi({ client })).openapi, /^3\.1/);
  assert.match(got(await api.getDocs({ client })), /^<!doctype html>/i);
}

async function registerWebhook(client: Client, { receiverUrl }: TourScene): Promise<string> {
  const { webhookId } = got(
    await api.registerWebhook({
      client,
      body: {
        url: receiverUrl,
        events: ["transaction.pending", "transaction.completed"],
        secret: "a secret of the tour",
      },
    }),
  );
  const path = { webhookId };
  const { events } = got(
    await api.updateWebhook({ client, path, body: { events: ["transaction.completed"] } }),
  );
  assert.deepEqual(events, ["transaction.completed"]);
  assert.deepEqual(got(await api.getWebhook({ client, path })).events, events);
  const { webhooks } = got(await api.listWebhooks({ client }));
  assert.deepEqual(
    webhooks.map((webhook) => webhook.webhookId),
    [webhookId],
  );
  const tested = got(await api.testWebhook({ client, path, body: { event: "transaction.completed" } }));
  assert.deepEqual([tested.delivered, tested.httpStatus, tested.error], [true, 200, null]);
  return webhookId;
}

async function send(client: Client, scene: TourScene): Promise<void> {
  const { sender } = scene;
  const recipients = [{ address: scene.recipient, amount: "1.5" }];
  const { quoteId } = got(
    await api.createQuote({
      client,
      body: { inputAsset: "USDC", outputAsset: "USDC", amount: "1.5", sender, recipients },
    }),
  );
  const { transaction = "" } = got(await api.refreshQuote({ client, path: { quoteId } }));
  assert.equal(got(await api.getQuote({ client, path: { quoteId } })).status, "open");
  const create = () =>
    api.createTransaction({
      client,
      headers: { "Idempotency-Key": "the-tours-first" },
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
  assert.deepEqual([got(again), again.response?.headers.get("idempotent-replayed")], [created, "true"]);
  assert.ok(created.mode === "wallet");
  await scene.settle();
  const path = { transactionId: created.transactionId };
  const { status, signature, blockTime } = got(
    await api.getTransaction({ client, path, query: { wait: 1 } }),
  );
  assert.deepEqual([status, signature, typeof blockTime], ["completed", created.signature, "number"]);
  const { data } = got(await api.listTransactions({ client, query: { reference: "tour" } }));
  assert.deepEqual(
    data.map(({ transactionId }) => transactionId),
    [created.transactionId],
  );
  const month = { from: "2020-01-01T00:00:00Z", to: "2020-01-31T00:00:00Z" };
  assert.match(
    got(await api.exportTransactions({ client, query: month })),
    /^transactionId,.*\r\n#end,0\r\n$/,
  );
  const timeline = got(await api.listTransactionEvents({ client, path }));
  assert.deepEqual(
    timeline.data.map(({ event }) => event),
    ["transaction.completed", "transaction.confirmed", "transaction.pending"],
  );
}

/** A quoted private order that waits for its deposit. */
async function order(
  client: Client,
  { sender, recipient }: TourScene,
  amount: string,
): Promise<api.CreatedPrivateTransaction> {
  const { quoteId } = got(
    await api.createQuote({
      client,
      body: { inputAsset: "USDC", outputAsset: "USDC", amount, mode: "private" },
    }),
  );
  const recipients = [{ address: recipient, amount }];
  const created = got(
    await api.createTransaction({
      client,
      body: { type: "send", mode: "private", quoteId, sender, recipients },
    }),
  );
  assert.ok(created.mode === "private");
  return created;
}

async function orderPrivately(client: Client, scene: TourScene): Promise<void> {
  const { ephemeralAddress, depositAmount, transactionId } = await order(client, scene, "2");
  await scene.deposit(ephemeralAddress, Number(depositAmount));
  await scene.settle();
  const { status, received, recipients } = got(await api.getTransaction({ client, path: { transactionId } }));
  assert.deepEqual([status, received?.length, recipients[0]?.status], ["completed", 1, "paid"]);
}

async function cancel(client: Client, scene: TourScene): Promise<void> {
  const { transactionId } = await order(client, scene, "3");
  const path = { transactionId };
  assert.equal(got(await api.cancelTransaction({ client, path })).status, "cancelled");
  const { error } = await api.cancelTransaction({ client, path });
  assert.ok(error?.error.code === "CANNOT_CANCEL");
  const { currentStatus, allowedStatuses } = error.error.details;
  assert.deepEqual([currentStatus, allowedStatuses], ["cancelled", ["pending"]]);
}

async function catchUp(client: Client, webhookId: string): Promise<void> {
  const { data: events } = got(await api.listEvents({ client, query: { order: "asc", limit: 2 } }));
  assert.deepEqual(
    events.map(({ event, data }) => [event, data.reference]),
    [
      ["transaction.pending", "tour"],
      ["transaction.confirmed", "tour"],
    ],
  );
  const path = { webhookId };
  const { data } = got(await api.listDeliveries({ client, path }));
  const [delivery] = data;
  assert.ok(delivery !== undefined && delivery.status === "delivered");
  const { deliveryId } = delivery;
  const again = await api.redeliver({ client, path: { webhookId, deliveryId } });
  assert.equal(got(again).eventId, delivery.eventId);
  const body = { since: "2020-01-01T00:00:00Z" };
  const { recovered } = got(await api.recoverWebhook({ client, path, body }));
  assert.equal(typeof recovered, "number");
  assert.equal(got(await api.deleteWebhook({ client, path })).deleted, true);
  const { error } = await api.deleteWebhook({ client, path });
  assert.ok(error?.error.code === "WEBHOOK_NOT_FOUND");
  assert.equal(error.error.details.webhookId, webhookId);
}

async function beRefused(client: Client, { sender, recipient }: TourScene): Promise<void> {
  const { error: quote } = await api.createTransaction({
    client,
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
  const { error: url } = await api.registerWebhook({
    client,
    body: { url: "http://plain.example", events: ["transaction.completed"] },
  });
  assert.ok(url?.error.code === "INVALID_URL" && url.error.details.reason === "not_https");
  // @ts-expect-error A misspelt field is found by the compiler, and refused by the service.
  const { error: misspelt } = await api.createQuote({ client, body: { inputAset: "SOL", amount: "1" } });
  assert.ok(misspelt?.error.code === "VALIDATION_ERROR");
  assert.ok(misspelt.error.details.fields.some(({ path }) => path === "inputAset"));
}
