/** The OpenAPI document against what is really answered: every type in every mode, and the refusals of each. */
import { describe, expect, test as vitestTest } from "vitest";
import { z } from "zod";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { ERRORS } from "../../src/errors/error-table.ts";
import { signPayment, type Wallet } from "../kit/chain-fixture.ts";
import { answerWith, startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { COMBINATIONS } from "../kit/modes.ts";
import { signAsFirst, swapFixture, type SwapFixture } from "../kit/swap-fixture.ts";

interface Media {
  readonly content: { readonly "application/json": { readonly schema: object } };
}
interface Referring {
  readonly $ref: string;
}
interface Described {
  readonly "x-scope": string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: object;
  }[];
  readonly responses: Readonly<Record<string, Media | Referring>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: Readonly<Record<"schemas" | "responses", Readonly<Record<string, object>>>>;
}

/** A service and its document, asked with Alice's key. */
interface Scene extends SwapFixture {
  readonly receiver: HttpsReceiver;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly carol: Wallet;
  readonly key: string;
  readonly document: Document;
  readonly fetch: ReturnType<typeof createHttpHandler>["fetch"];
}

const test = vitestTest
  .extend("receiver", { scope: "file" }, async ({}, { onCleanup }) => {
    const receiver = await startHttpsReceiver();
    onCleanup(() => receiver.close());
    return receiver;
  })
  .extend("world", { scope: "file" }, async ({ receiver }, { onCleanup }) => {
    const world = await swapFixture({ options: receiver.options });
    onCleanup(() => world.close());
    return world;
  })
  .extend("scene", { scope: "file" }, async ({ world, receiver }): Promise<Scene> => {
    const { accountId } = await world.caller("enterprise");
    const { key } = await world.service.issueKey({ accountId, environment: "test" });
    const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 500_000_000n });
    const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
    const carol = world.wallet("carol", { lamports: 1_000_000_000n, usdc: 1n });
    world.chain.advance(35);
    const { fetch } = createHttpHandler({ service: world.service, clock: world.clock });
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(new Request("http://pay.example/v1/openapi.json", { headers }));
    const document = (await answer.json()) as Document;
    return { ...world, receiver, alice, bob, carol, key, document, fetch };
  });

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function ask(scene: Scene, method: string, path: string, body?: object): Promise<Answered> {
  const { key, fetch } = scene;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(new Request(`http://pay.example${path}`, { method, headers, ...given }));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** As `ask`, and the answer has exactly the fields that the document has. */
async function asked(
  scene: Scene,
  method: string,
  path: string,
  described: string,
  body?: object,
): Promise<Answered> {
  const { document } = scene;
  const answer = await ask(scene, method, path, body);
  const operation = document.paths[described]?.[method.toLowerCase()];
  const response = operation?.responses[String(answer.status)];
  if (response === undefined) {
    throw new Error(`${method} ${described} is not described to answer ${answer.status}`);
  }
  const media = resolved(scene, response) as Media;
  const parsed = closed(scene, media.content["application/json"].schema).safeParse(answer.body);
  expect([parsed.error?.message, answer.body]).toEqual([undefined, answer.body]);
  return answer;
}

/** What stands behind a reference, or the part itself. */
function resolved(scene: Scene, part: object): object {
  const { document } = scene;
  if (!("$ref" in part)) return part;
  const [, , kind, name] = String(part.$ref).split("/");
  const component = document.components[kind as "schemas" | "responses"][name ?? ""];
  if (component === undefined) throw new Error(`${String(part.$ref)} leads nowhere`);
  return component;
}

/** The schema, closed to fields that it does not name. */
function closed(scene: Scene, schema: object): z.ZodType {
  const close = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(close);
    if (typeof part !== "object" || part === null) return part;
    const whole = resolved(scene, part);
    const all = Object.fromEntries(Object.entries(whole).map(([name, each]) => [name, close(each)]));
    return "properties" in whole ? { ...all, additionalProperties: false } : all;
  };
  return z.fromJSONSchema(close(schema) as never);
}

test("every endpoint is described with its scope, and no other", ({ scene }) => {
  const { document } = scene;
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => `${method.toUpperCase()} ${path} ${each["x-scope"]}`),
  );
  const served = ENDPOINTS.map(({ method, path, scope }) => `${method} ${path} ${scope}`);
  expect(described.toSorted()).toEqual(served.toSorted());
  expect(document.openapi).toBe("3.1.0");
});

// modules: webhooks
test("every error code that an endpoint can answer with is somewhere, under its own status", ({ scene }) => {
  const { document } = scene;
  const all = JSON.stringify(document.components);
  // Told where there is no endpoint.
  const missing = Object.keys(ERRORS).filter(
    (code) => code !== "METHOD_NOT_ALLOWED" && !all.includes(`"const":"${code}"`),
  );
  expect(missing).toEqual([]);
});

// modules: private
test("private mode is described honestly", ({ scene }) => {
  const { document } = scene;
  const { description = "" } = document.paths["/v1/transactions"]?.["post"] ?? { description: "" };
  for (const word of [
    "custodial",
    "not anonymous",
    "Never deposit from an exchange",
    "PARTIAL_PAYOUT",
    "public",
  ]) {
    expect(description).toContain(word);
  }
});

describe.each(COMBINATIONS)("$mode $type", ({ mode, type }) => {
  const ordered = async (scene: Scene): Promise<{ readonly body: object; readonly quoteId: string }> => {
    const { bob, carol, alice } = scene;
    scene.chain.advance(2);
    const recipients = [bob, ...(type === "payroll" ? [carol] : [])].map(({ address }) => ({
      address,
      amount: "2",
    }));
    const isSwap = type === "swap";
    const { body: quote } = await asked(scene, "POST", "/v1/quotes", "/v1/quotes", {
      inputAsset: "USDC",
      outputAsset: isSwap ? "USDT" : "USDC",
      mode,
      sender: alice.address,
      ...(isSwap ? { amount: "5" } : { amount: type === "send" ? "2" : "4", recipients }),
    });
    const quoteId = String(quote["quoteId"]);
    const { body: refreshed } = await asked(
      scene,
      "POST",
      `/v1/quotes/${quoteId}/refresh`,
      "/v1/quotes/{quoteId}/refresh",
    );
    const unsigned = (refreshed["transaction"] as string | undefined) ?? "";
    const signed = (): string =>
      isSwap ? signAsFirst(unsigned, alice) : signPayment(Buffer.from(unsigned, "base64"), alice.secretKey);
    const paid = isSwap
      ? [{ address: alice.address, amount: String(refreshed["outputAmount"]) }]
      : recipients;
    const more = mode === "wallet" ? { signedTransaction: signed() } : {};
    return { quoteId, body: { type, mode, quoteId, sender: alice.address, recipients: paid, ...more } };
  };

  test("quote, refresh, order and each later look answer what is described", async ({ scene }) => {
    const { body } = await ordered(scene);
    const { status, body: created } = await asked(
      scene,
      "POST",
      "/v1/transactions",
      "/v1/transactions",
      body,
    );
    expect(status).toBe(201);
    const path = `/v1/transactions/${String(created["transactionId"])}`;
    const look = (): Promise<Answered> => asked(scene, "GET", path, "/v1/transactions/{transactionId}");
    expect((await look()).body).toMatchObject({ mode, type });
    // More than is due, so that there is a refund to be described.
    const due = BigInt(Math.round(Number(created["depositAmount"] ?? 0) * 1e6)) + 9_000_000n;
    if (mode === "private") await scene.deposit(String(created["ephemeralAddress"]), { usdc: due });
    await look();
    await scene.settle(10);
    const { body: done } = await look();
    expect(done).toMatchObject({ status: "completed", reason: null });
    expect((done["refunds"] as unknown[]).length).toBe(mode === "private" ? 1 : 0);
    expect((await asked(scene, "DELETE", path, "/v1/transactions/{transactionId}")).status).toBe(409);
  });

  test("refusals answer what is described, each with its reason", async ({ scene }) => {
    const { alice } = scene;
    const { body, quoteId } = await ordered(scene);
    const refused = async (change: object): Promise<unknown[]> => {
      const { status, body: told } = await asked(scene, "POST", "/v1/transactions", "/v1/transactions", {
        ...body,
        ...change,
      });
      const { code, details } = told["error"] as { code: string; details: Record<string, unknown> };
      return [status, code, details["reason"]];
    };
    expect(await refused({ memo: 1 })).toEqual([400, "VALIDATION_ERROR", undefined]);
    expect(await refused({ quoteId: "quote_0" })).toEqual([422, "INVALID_QUOTE", "not_found"]);
    // Private mode ignores it, and what is wrong then is the amount.
    const [, ...recipients] = (body as { recipients: object[] }).recipients;
    const other = { address: alice.address, amount: "1" };
    const wrong = mode === "wallet" ? { signedTransaction: "AAAA" } : { recipients: [other, ...recipients] };
    const why =
      mode === "wallet"
        ? [400, "INVALID_SIGNATURE", "undecodable"]
        : [422, "INVALID_QUOTE", type === "swap" ? "amount_mismatch" : "recipients_mismatch"];
    expect(await refused(wrong)).toEqual(why);
    expect(quoteId).toMatch(/^quote_/);
  });
});

// modules: webhooks
test("what changes a webhook, tries it out and sends again answers what is described", async ({ scene }) => {
  const { receiver, alice, bob } = scene;
  const url = receiver.url;
  const { body: made } = await asked(scene, "POST", "/v1/webhooks", "/v1/webhooks", {
    url,
    events: ["transaction.pending", "transaction.completed"],
  });
  const one = `/v1/webhooks/${String(made["webhookId"])}`;
  const described = "/v1/webhooks/{webhookId}";
  expect((await asked(scene, "GET", one, described)).status).toBe(200);
  expect((await asked(scene, "PUT", one, described, { secret: "a secret of its own" })).status).toBe(200);
  for (const refused of [{}, { url: "http://plain.example" }, { events: ["*"] }]) {
    expect((await asked(scene, "PUT", one, described, refused)).status).toBe(400);
  }
  expect((await asked(scene, "PUT", "/v1/webhooks/wh_0", described, { enabled: true })).status).toBe(404);
  receiver.answer(answerWith(500));
  const event = "transaction.failed";
  expect((await asked(scene, "POST", `${one}/test`, `${described}/test`, { event })).body).toMatchObject({
    delivered: false,
  });
  expect((await asked(scene, "POST", `${one}/test`, `${described}/test`, { event: "x" })).status).toBe(400);
  const recipients = [{ address: bob.address, amount: "2" }];
  scene.chain.advance(2);
  const { body: quote } = await asked(scene, "POST", "/v1/quotes", "/v1/quotes", {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "2",
    sender: alice.address,
    recipients,
  });
  const { body: order } = await asked(scene, "POST", "/v1/transactions", "/v1/transactions", {
    type: "send",
    quoteId: quote["quoteId"],
    sender: alice.address,
    recipients,
    signedTransaction: scene.sign(String(quote["transaction"]), alice),
    reference: "seven",
  });
  await scene.service.settled();
  const deliveries = await asked(scene, "GET", `${one}/deliveries`, `${described}/deliveries`);
  const [delivery] = deliveries.body["data"] as { deliveryId: string; attempts: object[] }[];
  expect(delivery?.attempts).toHaveLength(1);
  const again = `${described}/deliveries/{deliveryId}/redeliver`;
  const redeliver = (id: string): Promise<Answered> =>
    asked(scene, "POST", `${one}/deliveries/${id}/redeliver`, again);
  expect((await redeliver(delivery?.deliveryId ?? "")).status).toBe(200);
  expect((await redeliver("dlv_0")).status).toBe(404);
  const since = "2020-01-01T00:00:00Z";
  expect((await asked(scene, "POST", `${one}/recover`, `${described}/recover`, { since })).status).toBe(200);
  expect((await asked(scene, "POST", `${one}/recover`, `${described}/recover`, {})).status).toBe(400);
  const path = `/v1/transactions/${String(order["transactionId"])}`;
  const timeline = await asked(scene, "GET", `${path}/events`, "/v1/transactions/{transactionId}/events");
  expect(timeline.body["data"]).toMatchObject([
    { event: "transaction.pending", data: { reference: "seven" } },
  ]);
  for (const [query, status] of [
    ["", 200],
    ["?limit=0", 400],
  ] as const) {
    expect((await asked(scene, "GET", `/v1/events${query}`, "/v1/events")).status).toBe(status);
    expect((await asked(scene, "GET", `/v1/transactions${query}`, "/v1/transactions")).status).toBe(status);
    expect((await asked(scene, "GET", `${one}/deliveries${query}`, `${described}/deliveries`)).status).toBe(
      status,
    );
  }
  expect((await asked(scene, "GET", `${path}?wait=26`, "/v1/transactions/{transactionId}")).status).toBe(400);
  await asked(scene, "GET", `/v1/quotes/${String(quote["quoteId"])}`, "/v1/quotes/{quoteId}");
  await asked(scene, "GET", "/v1/quotes/quote_0", "/v1/quotes/{quoteId}");
  await asked(scene, "GET", "/v1/account", "/v1/account");
  expect((await asked(scene, "DELETE", one, described)).status).toBe(200);
});

test("the parameters of queries are described as they are checked", ({ scene }) => {
  const { document } = scene;
  const { parameters = [] } = document.paths["/v1/transactions"]?.["get"] ?? {};
  expect(parameters.map(({ name }) => name)).toEqual([
    ...["status", "type", "mode", "asset", "sender", "quoteId", "refundOf", "recipient", "reference"],
    ...["createdAfter", "createdBefore", "limit", "startingAfter"],
  ]);
  expect(parameters.find(({ name }) => name === "limit")).toMatchObject({
    in: "query",
    required: false,
    schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  });
  // modules: webhooks
  const again = document.paths["/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver"]?.["post"];
  // modules: webhooks
  expect(again?.parameters?.map((each) => [each.name, each.in, each.required])).toEqual([
    ["webhookId", "path", true],
    ["deliveryId", "path", true],
    [undefined, undefined, undefined],
  ]);
});

test("the other endpoints answer what is described", async ({ scene }) => {
  const { alice } = scene;
  const tokens = await asked(scene, "GET", "/v1/tokens", "/v1/tokens");
  expect(tokens.status).toBe(200);
  await asked(scene, "GET", `/v1/balances/${alice.address}`, "/v1/balances/{address}");
  await asked(scene, "GET", "/v1/balances/nobody", "/v1/balances/{address}");
  // modules: webhooks
  await asked(scene, "GET", "/v1/webhooks", "/v1/webhooks");
  // modules: webhooks
  await asked(scene, "DELETE", "/v1/webhooks/wh_0", "/v1/webhooks/{webhookId}");
  // modules: webhooks
  await asked(scene, "POST", "/v1/webhooks", "/v1/webhooks", { url: "http://plain.example", events: [] });
  await asked(scene, "GET", "/v1/transactions/tx_0", "/v1/transactions/{transactionId}");
});

// modules: private
test("a cancel, and a transaction that is cancelled, answer what is described", async ({ scene }) => {
  const { alice, bob } = scene;
  const open = await asked(scene, "POST", "/v1/quotes", "/v1/quotes", {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "2",
    mode: "private",
  });
  const { body: order } = await asked(scene, "POST", "/v1/transactions", "/v1/transactions", {
    type: "send",
    mode: "private",
    quoteId: open.body["quoteId"],
    sender: alice.address,
    recipients: [{ address: bob.address, amount: "2" }],
  });
  const path = `/v1/transactions/${String(order["transactionId"])}`;
  expect((await asked(scene, "DELETE", path, "/v1/transactions/{transactionId}")).status).toBe(200);
  expect((await asked(scene, "GET", path, "/v1/transactions/{transactionId}")).body).toMatchObject({
    status: "cancelled",
  });
});
