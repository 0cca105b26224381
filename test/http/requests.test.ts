/** What the handler makes of requests as such: keys, paths, methods, bodies and headers. */
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "../../src/payments/frame/accounts/caller.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { sampled } from "../kit/thorough.ts";
import { httpFixture, type HttpFixture, type Told } from "./http-fixture.ts";
import { HOSTED_WAYS, WAYS } from "./ways.ts";

const JSON_TYPE = { "content-type": "application/json" };
const MAX_BODY_BYTES = 65_536;
const KEYED = ENDPOINTS.filter(({ scope }) => scope !== "none");

describe.each(sampled([...WAYS, ...HOSTED_WAYS], "ways of requests"))("$name", (way) => {
  let http: HttpFixture;
  beforeAll(async () => {
    http = await httpFixture(way);
  });
  afterAll(() => http.close());

  test("every scope opens its own endpoints and no other", async () => {
    const { caller } = await http.client({ tier: "enterprise" });
    for (const scope of SCOPES) {
      const client = await http.client({ caller, scopes: [scope] });
      const refused: unknown[] = [];
      for (const route of KEYED) {
        const answer = await client.request(route.path.replaceAll(/\{\w+\}/g, "some_id"), {
          method: route.method,
        });
        if (answer.status !== 403) continue;
        expect(answer).toMatchObject({ code: "INSUFFICIENT_SCOPE", details: { required: route.scope } });
        refused.push(route);
      }
      expect(refused).toEqual(KEYED.filter((route) => route.scope !== scope && route.scope !== "any"));
    }
  });

  test("tokens are listed; H18: a never-used address has sol 0 and no tokens", async () => {
    const client = await http.client();
    const { status, body, headers } = await client.get("/v1/tokens");
    expect(status).toBe(200);
    expect((body["tokens"] as { symbol: string }[]).map(({ symbol }) => symbol)).toEqual([
      "SOL",
      "USDC",
      "USDT",
    ]);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
    expect(headers.get("ratelimit-policy")).toBe('"reads";q=120;w=60');
    expect(headers.get("ratelimit")).toBe('"reads";r=119;t=60');

    const { address } = http.wallet("nobody");
    const balances = await client.get(`/v1/balances/${address}`);
    expect(balances).toMatchObject({ status: 200, body: { address, sol: "0", tokens: [] } });
    const bad = await client.get("/v1/balances/not%20an%20address");
    expect(bad).toMatchObject({
      status: 400,
      code: "INVALID_ADDRESS",
      details: { address: "not an address" },
    });
  });

  test("R29: 404: an unknown path is NOT_FOUND and echoed to 256 characters, an unknown id names what was not found", async () => {
    const client = await http.client();
    for (const path of ["/", "/v1", "/v1/tokens/", "/v1/openapi", "/v1/transactions/a/b"]) {
      const missing = await client.get(path);
      expect(missing).toMatchObject({ status: 404, code: "NOT_FOUND" });
      expect(missing.details["path"]).toBe(`${way.basePath}${path}`);
    }
    for (const id of ["%00", "%F0%9F%92%B8", "%2e%2e%2e", "%E0%A4%A", "a'%20OR%201=1", "x".repeat(10_000)]) {
      const odd = await client.get(`/v1/transactions/${id}`);
      expect([id, odd.status, odd.code]).toEqual([id, 404, "TRANSACTION_NOT_FOUND"]);
    }
    const unknown = await client.get("/v1/transactions/tx_0");
    expect(unknown).toMatchObject({ status: 404, code: "TRANSACTION_NOT_FOUND" });
    expect(unknown.details["transactionId"]).toBe("tx_0");
    const long = await client.get(`/${"x".repeat(4_000)}`);
    expect(String(long.details["path"]).length).toBe(256);
  });

  // modules: webhooks
  test("405: a known path names the methods it takes; HEAD is GET without a body; OPTIONS lists them", async () => {
    const client = await http.client();
    const refused = await client.request("/v1/webhooks", { method: "PATCH" });
    expect(refused).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED", details: { method: "PATCH" } });
    expect(refused.headers.get("allow")).toBe("POST, GET, HEAD");
    const head = await client.request("/v1/tokens", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("x-request-id")).toMatch(/^req_/);
    const options = await client.request("/v1/tokens", { method: "OPTIONS" });
    expect([options.status, options.text]).toEqual([204, ""]);
    expect(options.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });

  test("415: a body that is not plain application/json is refused", async () => {
    const client = await http.client();
    const body = JSON.stringify({ inputAsset: "SOL", outputAsset: "SOL", amount: "1" });
    const post = (headers: Record<string, string>): Promise<Told> =>
      client.request("/v1/quotes", { method: "POST", body, headers });
    for (const type of ["text/plain", "application/jsonp", "application/json; charset=utf-16", "x"]) {
      const refused = await post({ "content-type": type });
      expect(refused).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
    }
    for (const type of ["application/json", 'Application/JSON ; charset="UTF-8"']) {
      expect((await post({ "content-type": type })).status).toBe(201);
    }
  });

  test("413: a body over 64 KiB is refused, one of exactly 64 KiB is read", async () => {
    const client = await http.client();
    const sized = (bytes: number): string => `{"x":"${"y".repeat(bytes - 8)}"}`;
    const tooLarge = await client.post("/v1/quotes", sized(MAX_BODY_BYTES + 1));
    expect(tooLarge).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(tooLarge.details["limitBytes"]).toBe(MAX_BODY_BYTES);
    const largest = await client.post("/v1/quotes", sized(MAX_BODY_BYTES));
    expect(largest).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    const megabytes = await client.post("/v1/quotes", sized(3_000_000));
    expect(megabytes.status).toBe(413);
  });

  test("an unknown field, a `__proto__` or a body that is no object is VALIDATION_ERROR and nothing else", async () => {
    const client = await http.client();
    const quote = '"inputAsset":"SOL","outputAsset":"SOL","amount":"1"';
    for (const body of [`{${quote},"typo":1}`, "[]", "null", '"text"', "1", `[{${quote}}]`]) {
      expect(await client.post("/v1/quotes", body)).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    }
    const unknown = await client.post("/v1/quotes", `{${quote},"typo":1}`);
    expect(unknown.details["fields"]).toEqual([{ path: "typo", message: "unknown field" }]);
    await client.post(
      "/v1/quotes",
      `{${quote},"__proto__":{"polluted":true},"constructor":{"prototype":{}}}`,
    );
    expect(Object.prototype).not.toHaveProperty("polluted");
  });

  test("what is wrong with a field is said in words that name no library", async () => {
    const client = await http.client();
    const body = {
      type: "transfer",
      quoteId: "",
      sender: 7,
      recipients: {},
      mode: "x".repeat(5),
      signedTransaction: null,
    };
    const refused = await client.post("/v1/transactions", body);
    expect(refused.details["fields"]).toEqual([
      { path: "type", message: 'expected "send" or "swap" or "payroll"' },
      { path: "quoteId", message: "is empty" },
      { path: "mode", message: 'expected "wallet" or "private"' },
      { path: "sender", message: 'expected a string, such as "1"' },
      { path: "recipients", message: "expected a list" },
      { path: "signedTransaction", message: 'expected a string, such as "1"' },
    ]);
    const quote = await client.post("/v1/quotes", { slippageBps: 1.5, amount: "1", inputAsset: "SOL" });
    expect(quote.details["fields"]).toEqual([
      { path: "outputAsset", message: "is missing" },
      { path: "slippageBps", message: "expected a whole number" },
    ]);
    const long = {
      inputAsset: "x".repeat(200),
      outputAsset: "SOL",
      amount: "1",
      slippageBps: 9_999,
      recipients: [],
    };
    expect((await client.post("/v1/quotes", long)).details["fields"]).toEqual([
      { path: "inputAsset", message: "expected 128 characters or fewer" },
      { path: "slippageBps", message: "expected 5000 or fewer" },
      { path: "recipients", message: "is empty" },
    ]);
    const none = await client.post("/v1/quotes", []);
    expect(none.details["fields"]).toEqual([{ path: "", message: "expected an object" }]);
  });

  test("U4: private mode and swaps that were never configured are off, with nothing to wait for", async () => {
    const client = await http.client();
    for (const quote of [
      { inputAsset: "USDC", outputAsset: "USDC", amount: "1", mode: "private" },
      { inputAsset: "SOL", outputAsset: "USDC", amount: "1" },
      { inputAsset: "SOL", outputAsset: "USDC", amount: "1", mode: "private" },
    ]) {
      const refused = await client.post("/v1/quotes", quote);
      expect(refused).toMatchObject({ status: 503, code: "ROUTING_UNAVAILABLE", details: { reason: "off" } });
      expect(refused.details).not.toHaveProperty("retryAfter");
      expect(refused.headers.get("retry-after")).toBeNull();
    }
  });

  test("an Idempotency-Key is 1 to 255 visible ASCII characters", async () => {
    const client = await http.client();
    const body = { inputAsset: "SOL", outputAsset: "SOL", amount: "1" };
    for (const key of ["a b", "k".repeat(256), "é"]) {
      const refused = await client.post("/v1/quotes", body, { "idempotency-key": key });
      expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
      expect(refused.details["fields"]).toMatchObject([{ path: "Idempotency-Key" }]);
    }
    const taken = await client.post("/v1/quotes", body, { "idempotency-key": "~".repeat(255) });
    expect(taken.status).toBe(201);
  });
});

describe.each(sampled(WAYS, "keys and bytes"))("keys and bytes as they are, $name", (way) => {
  let http: HttpFixture;
  beforeAll(async () => {
    http = await httpFixture(way, { handler: { limits: { failedAuthentications: 1_000 } } });
  });
  afterAll(() => http.close());

  const paths = [...new Set(KEYED.map(({ path }) => path.replaceAll(/\{\w+\}/g, "some_id")))];
  test.each([...paths, "/", "/v1", "/v1/nothing", "/v2/tokens"])(
    "H17: %s without a key or with a garbled one is 401, whatever the method",
    async (path) => {
      const revoked = await http.client();
      await http.service.revokeKey(revoked.key.split("_")[2] ?? "");
      const bodies = new Set<string>();
      for (const authorization of [null, "", "Bearer", "Basic eDp5", `Bearer ${revoked.key}`, revoked.key]) {
        for (const method of ["GET", "POST", "DELETE", "PUT", "OPTIONS"]) {
          const headers = authorization === null ? {} : { authorization };
          const refused = await http.stranger(path, { method, headers });
          expect(refused).toMatchObject({ status: 401, code: "INVALID_API_KEY" });
          expect(refused.headers.get("www-authenticate")).toBe("Bearer");
          bodies.add(refused.text.replaceAll(/req_[0-9a-f]{32}/g, "req_"));
        }
      }
      expect(bodies.size).toBe(1);
    },
  );

  test.each(["", "{", "{'a':1}", '{"a":1}x', "undefined", "[1,]", '{"a":"\u0000"}'])(
    "the malformed body %j is VALIDATION_ERROR without what the parser said",
    async (body) => {
      const client = await http.client();
      const refused = await client.post("/v1/quotes", body);
      expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
      expect(refused.details["fields"]).toMatchObject([{ path: "" }]);
      expect(refused.text).not.toMatch(/position|token|JSON at/i);
    },
  );

  test.each([
    ['"amount":"1"', "amount"],
    ['"\\u0061mount":"2"', "amount"],
    [
      '"recipients":[{"address":"a","amount":"1"},{"amount":"1","amount":"1","address":"b"}]',
      "recipients.1.amount",
    ],
    ['"x":{"y":[[1],{"z":{"":1,"":2}}]}', "x.y.1.z."],
    ['"__proto__":1,"__proto__":2', "__proto__"],
  ])("H27: a field that is there twice is refused by its path: %s", async (more, path) => {
    const client = await http.client();
    const quote = '"inputAsset":"SOL","outputAsset":"SOL","amount":"1"';
    const refused = await client.post("/v1/quotes", `{${quote},${more}}`);
    expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(refused.details["fields"]).toEqual([{ path, message: "is given twice" }]);
  });

  test("the scheme may be written in any case, and the key may not", async () => {
    const { key } = await http.client();
    const status = async (authorization: string): Promise<number> =>
      (await http.stranger("/v1/tokens", { headers: { authorization } })).status;
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
      expect(await status(`${scheme} ${key}`)).toBe(200);
    }
    for (const wrong of [`Bearer ${key.toUpperCase()}`, `Bearer  ${key}`, `Bearer${key}`, `Basic ${key}`]) {
      expect([wrong, await status(wrong)]).toEqual([wrong, 401]);
    }
  });

  test("a body that is not UTF-8 or is compressed is refused", async () => {
    const client = await http.client();
    const post = (body: Uint8Array, headers = {}): Promise<Told> =>
      client.request("/v1/quotes", { method: "POST", body, headers: { ...JSON_TYPE, ...headers } });
    expect((await post(Buffer.from('{"amount":"\xff"}', "latin1"))).status).toBe(400);
    expect((await post(Buffer.from("{}"), { "content-encoding": "gzip" })).status).toBe(415);
  });

  test("413: a body without Content-Length is counted while it arrives, and not read to its end", async () => {
    const client = await http.client();
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > 1_000) controller.close();
        else controller.enqueue(new Uint8Array(16_384).fill(0x20));
      },
    });
    const init = { method: "POST", body: endless, headers: JSON_TYPE, duplex: "half" } as RequestInit;
    expect(await client.request("/v1/quotes", init)).toMatchObject({
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    });
  });

  const inBytes = (length: number, size: number): RequestInit => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === length) controller.close();
        else controller.enqueue(new Uint8Array(size).fill(0x20));
        sent += 1;
      },
    });
    return { method: "POST", body, headers: JSON_TYPE, duplex: "half" };
  };

  test("U10: while a body comes in chunks of a byte, others have their turn; beyond 8,192 chunks it is refused", async () => {
    const client = await http.client();
    let turns = 0;
    let isRead = false;
    const others = (): void => {
      turns += 1;
      if (!isRead) setImmediate(others);
    };
    setImmediate(others);
    expect(await client.request("/v1/quotes", inBytes(8_192, 1))).toMatchObject({
      status: 400,
      code: "VALIDATION_ERROR",
    });
    isRead = true;
    expect(turns).toBeGreaterThanOrEqual(16);
    const refused = { status: 413, code: "PAYLOAD_TOO_LARGE" };
    expect(await client.request("/v1/quotes", inBytes(8_193, 1))).toMatchObject(refused);
  });

  test("the fingerprint is that of the raw bytes: other whitespace under one key is another request", async () => {
    const client = await http.client();
    const body = { inputAsset: "SOL", outputAsset: "SOL", amount: "1" };
    const headers = { "idempotency-key": "k" };
    const first = await client.post("/v1/quotes", JSON.stringify(body), headers);
    const spaced = await client.post("/v1/quotes", JSON.stringify(body, null, 1), headers);
    expect(spaced).toMatchObject({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    const same = await client.post("/v1/quotes", JSON.stringify(body), headers);
    expect(same.text).toBe(first.text);
  });
});

test("a request line or Host header that no URL can be made of is 400 in the contract's shape", async () => {
  const way = WAYS.find(({ name }) => name === "through node:http");
  if (way === undefined) throw new Error("there is such a way");
  const http = await httpFixture(way);
  try {
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = httpRequest(`${http.origin}/v1/tokens`, { headers: { host: "a b" } }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      request.on("error", reject).end();
    });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "VALIDATION_ERROR" } });
  } finally {
    await http.close();
  }
});
