/** Two tenants swapped on every route and every id: nothing crosses, and nothing changes. */
// modules: webhooks
import { expect, test as vitestTest } from "vitest";
import { bodyUse, type KeyedEndpoint } from "../../src/http/contract/endpoint.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { answerWith, startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { httpFixture, type Client, type HttpFixture, type Told } from "./http-fixture.ts";
import { WAYS } from "./ways.ts";

const EVENTS = ["transaction.pending", "transaction.completed"];

/** What belongs to somebody, by the collection in whose paths its id stands. */
interface Owned {
  readonly quotes: string;
  readonly transactions: string;
  readonly webhooks: string;
  readonly deliveryId: string;
}

/** Ann and Ben, each with belongings of their own. */
interface Scene {
  readonly http: HttpFixture;
  readonly receiver: HttpsReceiver;
  readonly ann: Client;
  readonly ben: Client;
  readonly anns: Owned;
  readonly bens: Owned;
}

const test = vitestTest
  .extend("receiver", { scope: "file" }, async ({}, { onCleanup }) => {
    const receiver = await startHttpsReceiver();
    onCleanup(() => receiver.close());
    receiver.answer(answerWith(500));
    return receiver;
  })
  .extend("http", { scope: "file" }, async ({ receiver }, { onCleanup }) => {
    const way = WAYS[0];
    if (way === undefined) throw new Error("there is such a way");
    const webhooks = { allowAddress: () => true, ca: receiver.ca };
    const http = await httpFixture(way, { service: { webhooks } });
    onCleanup(() => http.close());
    return http;
  })
  .extend("scene", { scope: "file" }, async ({ http, receiver }): Promise<Scene> => {
    const ann = await http.client({ tier: "pro" });
    const ben = await http.client({ tier: "pro" });
    const anns = await belongings({ http, receiver }, ann);
    return { http, receiver, ann, ben, anns, bens: await belongings({ http, receiver }, ben) };
  });

async function belongings(scene: Pick<Scene, "http" | "receiver">, client: Client): Promise<Owned> {
  const { receiver, http } = scene;
  const hook = await client.post("/v1/webhooks", { url: receiver.url, events: EVENTS });
  const { body } = await client.prepareSend();
  const sent = await client.post("/v1/transactions", { ...body, reference: "ours" });
  const quote = await client.post("/v1/quotes", { inputAsset: "SOL", outputAsset: "SOL", amount: "1" });
  await http.finalize();
  const webhooks = String(hook.body["webhookId"]);
  const { body: listed } = await client.get(`/v1/webhooks/${webhooks}/deliveries`);
  const [delivery] = listed["data"] as { deliveryId: string }[];
  return {
    quotes: String(quote.body["quoteId"]),
    transactions: String(sent.body["transactionId"]),
    webhooks,
    deliveryId: delivery?.deliveryId ?? "",
  };
}

function idsOf({ quotes, transactions, webhooks, deliveryId }: Owned): readonly string[] {
  return [quotes, transactions, webhooks, deliveryId];
}

const BODIES: Readonly<Record<string, object>> = {
  PUT: { enabled: false },
  test: { event: "transaction.pending" },
  recover: { since: "2020-01-01T00:00:00Z" },
};

function bodyOf(endpoint: KeyedEndpoint): object | undefined {
  const { method, path } = endpoint;
  return bodyUse(endpoint) === "json" ? (BODIES[method] ?? BODIES[path.split("/").at(-1) ?? ""]) : undefined;
}

/** The path with somebody's ids in it; `deliveryId` may be another's. */
function pathOf({ path }: KeyedEndpoint, owned: Owned, deliveryId = owned.deliveryId): string {
  const [, , collection = ""] = path.split("/");
  const id = owned[collection as keyof Owned];
  return path.replace("{deliveryId}", deliveryId).replace(/\{\w+\}/, id);
}

function ask(client: Client, route: KeyedEndpoint, path: string): Promise<Told> {
  const body = bodyOf(route);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return client.request(path, {
    method: route.method,
    headers: { "content-type": "application/json" },
    ...sent,
  });
}

/** Everything that an account is shown. */
async function everythingOf(client: Client, owned: Owned): Promise<string> {
  const paths = [
    ...["/v1/transactions", "/v1/events", "/v1/webhooks", `/v1/quotes/${owned.quotes}`],
    `/v1/webhooks/${owned.webhooks}/deliveries`,
  ];
  return JSON.stringify((await Promise.all(paths.map((path) => client.get(path)))).map(({ body }) => body));
}

const WITH_ID = ENDPOINTS.filter((each) => each.scope !== "none").filter(({ path }) => path.includes("Id}"));

test.for(WITH_ID)(
  "H16: $method $path with another account's id finds nothing and changes nothing",
  async (route, { scene }) => {
    const { ann, anns, ben, http } = scene;
    const before = await everythingOf(ann, anns);
    const foreign = await ask(ben, route, pathOf(route, anns));
    const isCancel = route.method === "DELETE" && route.path.startsWith("/v1/transactions");
    const kind = foreign.code.replace(/^[A-Z]+(?=_NOT_FOUND$)/, "…");
    expect([foreign.status, kind]).toEqual(isCancel ? [403, "UNAUTHORIZED"] : [404, "…_NOT_FOUND"]);
    await http.service.settled();
    expect(await everythingOf(ann, anns)).toBe(before);
    const path = pathOf(route, anns);
    const unasked = idsOf(anns).filter((id) => !path.includes(id));
    for (const id of unasked) expect(foreign.text).not.toContain(id);
    // Nobody can tell another's object from one that there is not.
    if (isCancel) return;
    const unknown = await ask(ben, route, pathOf(route, { ...anns, ...NOTHING }));
    expect([unknown.status, unknown.code]).toEqual([foreign.status, foreign.code]);
  },
);

const NOTHING: Owned = { quotes: "quote_0", transactions: "tx_0", webhooks: "wh_0", deliveryId: "dlv_0" };

test("a delivery of another account is not found under one's own webhook either", async ({ scene }) => {
  const { ben, bens, anns } = scene;
  for (const route of WITH_ID.filter(({ path }) => path.includes("{deliveryId}"))) {
    const foreign = await ask(ben, route, pathOf(route, bens, anns.deliveryId));
    expect(foreign).toMatchObject({ status: 404, code: "DELIVERY_NOT_FOUND" });
  }
});

test("the owner finds each of them", async ({ scene }) => {
  const { ann, anns } = scene;
  const gone = WITH_ID.filter(({ method }) => method !== "DELETE" && method !== "PUT");
  for (const route of gone) {
    expect([route.path, (await ask(ann, route, pathOf(route, anns))).status]).toEqual([route.path, 200]);
  }
});

test("lists and the account hold one's own and nothing else, whatever they are filtered by", async ({
  scene,
}) => {
  const { ben, bens, anns } = scene;
  const queries = ["", "?reference=ours", "?status=completed"];
  for (const query of queries) {
    const { body } = await ben.get(`/v1/transactions${query}`);
    expect((body["data"] as { transactionId: string }[]).map(({ transactionId }) => transactionId)).toEqual([
      bens.transactions,
    ]);
  }
  const { body: events } = await ben.get("/v1/events");
  expect(JSON.stringify(events)).not.toContain(anns.transactions);
  const { body: account } = await ben.get("/v1/account");
  expect(account).toMatchObject({
    accountId: ben.caller.accountId,
    tier: "pro",
    webhooks: { limit: 10, current: 1 },
  });
});

test("GET /v1/account tells any key what it may do and what is left, and counts as a read like any", async ({
  scene,
}) => {
  const { http, receiver } = scene;
  const client = await http.client({ scopes: ["webhooks:write"] });
  await client.post("/v1/webhooks", { url: receiver.url, events: [] });
  const { status, body, headers } = await client.get("/v1/account");
  expect(status).toBe(200);
  expect(body).toEqual({
    accountId: client.caller.accountId,
    tier: "free",
    scopes: ["webhooks:write"],
    limits: [
      { scope: "reads", limit: 120, windowSeconds: 60, remaining: 119, resetSeconds: 60 },
      { scope: "quotes", limit: 60, windowSeconds: 60, remaining: 60, resetSeconds: 60 },
      { scope: "quote_parties", limit: 200, windowSeconds: 60, remaining: 200, resetSeconds: 60 },
      { scope: "creates", limit: 30, windowSeconds: 60, remaining: 30, resetSeconds: 60 },
      { scope: "webhook_test", limit: 10, windowSeconds: 60, remaining: 10, resetSeconds: 60 },
      { scope: "cancel", limit: 10, windowSeconds: 60, remaining: 10, resetSeconds: 60 },
      { scope: "webhook_registration", limit: 10, windowSeconds: 3_600, remaining: 9, resetSeconds: 3_600 },
    ],
    webhooks: { limit: 3, current: 0 },
  });
  expect(headers.get("ratelimit")).toBe('"reads";r=119;t=60');
});

test("GET /v1/quotes/{quoteId} shows a quote open, expired, refreshed and used, without what is to be signed", async ({
  scene,
}) => {
  const { http } = scene;
  const client = await http.client();
  const { body, quote } = await client.prepareSend();
  const path = `/v1/quotes/${quote.quoteId}`;
  const { transaction, warnings, ...told } = quote;
  expect(transaction).not.toBe("");
  expect(warnings).toEqual([]);
  expect((await client.get(path)).body).toEqual({ ...told, status: "open", transactionId: null });
  const created = await client.post("/v1/transactions", body);
  const { transactionId } = created.body;
  expect((await client.get(path)).body).toMatchObject({ status: "used", transactionId });
  const asked = { inputAsset: "SOL", outputAsset: "SOL", amount: "1" };
  const other = `/v1/quotes/${String((await client.post("/v1/quotes", asked)).body["quoteId"])}`;
  http.clock.advance(30_000);
  expect((await client.get(other)).body).toMatchObject({ status: "expired", transactionId: null });
  const refreshed = await client.post(`${other}/refresh`);
  expect((await client.get(other)).body).toMatchObject({
    status: "open",
    expiresAt: refreshed.body["expiresAt"],
  });
});
