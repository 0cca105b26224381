/** A server that lies, stalls and never ends: the client stays within its time, its memory and its patience. */
import { expect, test } from "vitest";
import { ApiError, createClient, NoAnswer, type ClientOptions, type PaymentClient } from "paystate/client";
import { virtualClock } from "../kit/virtual-clock.ts";

const API_KEY = "pay_test_7_nobody_may_see_this";
const BASE_URL = "https://pay.example/shop";

/** A client of a server that gives this answer to everything. */
function clientOf(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<ClientOptions> = {},
): {
  client: PaymentClient;
  asked: Request[];
  outcome: (ending: Promise<unknown>) => Promise<[unknown, number]>;
} {
  const clock = virtualClock();
  const asked: Request[] = [];
  const client = createClient({
    baseUrl: `${BASE_URL}/`,
    apiKey: API_KEY,
    clock,
    async fetch(request) {
      asked.push(request);
      return answer(request);
    },
    ...options,
  });
  return {
    client,
    asked,
    /** What it rejects with, and how long that took. */
    async outcome(ending) {
      const begun = clock.now();
      let rejection: unknown = "not yet";
      const ended = ending.then(
        () => (rejection = "resolved"),
        (error: unknown) => (rejection = error),
      );
      while (rejection === "not yet") {
        // All that is ready goes first.
        for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        if (rejection === "not yet") clock.advance(250);
      }
      await ended;
      return [rejection, clock.now() - begun];
    },
  };
}

async function readToItsEnd(list: AsyncIterable<unknown>): Promise<number> {
  let elements = 0;
  for await (const element of list) elements += element === undefined ? 0 : 1;
  return elements;
}

const refused = (
  code: string,
  status: number,
  headers: Record<string, string> = {},
  details: Record<string, unknown> = {},
): Response =>
  Response.json(
    { error: { code, message: "No.", details: { ...details, requestId: "req_1" } } },
    { status, headers },
  );

test("garbled JSON is asked for again under one key, and is never taken for an answer", async () => {
  const { client, asked, outcome } = clientOf(
    () => new Response('{"quoteId":"quote_1","am', { status: 201 }),
  );
  const [error] = await outcome(client.createQuote({ inputAsset: "SOL", outputAsset: "SOL", amount: "1" }));
  expect(error).toBeInstanceOf(NoAnswer);
  expect(error).toMatchObject({ status: 201, attempts: 5, mayPass: true });
  const keys = asked.map(({ headers }) => headers.get("idempotency-key"));
  expect(keys).toHaveLength(5);
  expect(new Set(keys)).toEqual(new Set([(error as NoAnswer).idempotencyKey]));
});

test.each(["[]", "null", '"text"', "7", ""])("%j is no answer either", async (text) => {
  const { client, outcome } = clientOf(() => new Response(text), { retries: 0 });
  const [error] = await outcome(client.getAccount());
  expect(error).toMatchObject({ name: "NoAnswer", status: 200 });
});

test("who is to wait for years is told so at once", async () => {
  const { client, asked, outcome } = clientOf(() =>
    refused("RATE_LIMIT_EXCEEDED", 429, { "retry-after": "999999999" }),
  );
  const [error, tookMs] = await outcome(client.listTokens());
  expect(error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", status: 429, retryAfterMs: 999_999_999_000 });
  expect([asked.length, tookMs]).toEqual([1, 0]);
});

test("U4: what is off is asked for once", async () => {
  const { client, asked, outcome } = clientOf(() =>
    refused("ROUTING_UNAVAILABLE", 503, {}, { reason: "off" }),
  );
  const wanted = { inputAsset: "SOL", outputAsset: "USDC", amount: "1" };
  const [error, tookMs] = await outcome(client.createQuote(wanted));
  expect(error).toMatchObject({ code: "ROUTING_UNAVAILABLE", retryAfterMs: null });
  expect([asked.length, tookMs]).toEqual([1, 0]);
});

test("a server that always asks for a little patience gets as much as there is, and no request too early", async () => {
  const { client, asked, outcome } = clientOf(() => refused("SERVICE_PAUSED", 503, { "retry-after": "7" }));
  const [error, tookMs] = await outcome(
    client.createQuote({ inputAsset: "a", outputAsset: "a", amount: "1" }),
  );
  expect(error).toMatchObject({ code: "SERVICE_PAUSED", attempts: 5 });
  expect(asked).toHaveLength(5);
  expect(tookMs).toBeGreaterThanOrEqual(28_000);
  expect(tookMs).toBeLessThan(32_000);
});

test("a date in Retry-After is kept; what is neither date nor seconds leaves the pause to the client", async () => {
  const dated = clientOf(() =>
    refused("UPSTREAM_ERROR", 502, { "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT" }),
  );
  expect((await dated.outcome(dated.client.listTokens()))[1]).toBeGreaterThanOrEqual(20_000);
  const garbled = clientOf(() => refused("UPSTREAM_ERROR", 502, { "retry-after": "-5; soon" }));
  const [error, tookMs] = await garbled.outcome(garbled.client.listTokens());
  expect(error).toMatchObject({ code: "UPSTREAM_ERROR", retryAfterMs: null, attempts: 5 });
  // Half of 0.5 + 1 + 2 + 4 seconds at least.
  expect(tookMs).toBeGreaterThanOrEqual(3_750);
});

test("a refusal that will not pass is not asked for again", async () => {
  const { client, asked, outcome } = clientOf(() => refused("INTERNAL_ERROR", 500));
  const [error] = await outcome(client.listTokens());
  expect(error).toBeInstanceOf(ApiError);
  expect(asked).toHaveLength(1);
});

test("a server that never answers costs the time that was allowed, also where fetch does not listen", async () => {
  const { client, asked, outcome } = clientOf(() => new Promise(() => {}), { timeoutMs: 2_000, retries: 1 });
  const [error, tookMs] = await outcome(client.listTokens());
  expect(error).toMatchObject({ name: "NoAnswer", status: null, attempts: 2 });
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(tookMs).toBeLessThan(6_000);
});

test("an answer that stalls in its middle is cut off as well", async () => {
  const stalling = (): Response => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
  const { client, outcome } = clientOf(stalling, { timeoutMs: 2_000, retries: 0 });
  expect((await outcome(client.listTokens()))[0]).toMatchObject({ name: "NoAnswer", attempts: 1 });
});

test("an answer without end is cut at 32 MiB", async () => {
  const megabyte = new Uint8Array(1024 * 1024).fill(32);
  let sent = 0;
  const pouring = (): Response =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 1;
          controller.enqueue(megabyte);
        },
      }),
    );
  const { client, outcome } = clientOf(pouring, { retries: 0 });
  const [error] = await outcome(client.listTokens());
  expect(error).toBeInstanceOf(NoAnswer);
  expect(((error as NoAnswer).cause as Error).message).toContain("longer than");
  expect(sent).toBeLessThan(40);
});

test("a redirect is not followed: the key goes nowhere else", async () => {
  const { client, asked, outcome } = clientOf(
    () => new Response(null, { status: 307, headers: { location: "https://evil.example" } }),
  );
  const [error] = await outcome(client.listTokens());
  expect(error).toMatchObject({ name: "NoAnswer", status: 307, mayPass: false });
  expect(asked.map(({ url, redirect }) => ({ url, redirect }))).toEqual([
    { url: `${BASE_URL}/v1/tokens`, redirect: "manual" },
  ]);
});

test("a page of somebody else's server is no refusal, and is not asked for again", async () => {
  const { client, asked, outcome } = clientOf(() => new Response("<h1>Not found</h1>", { status: 404 }));
  const [error] = await outcome(client.getQuote("quote_1"));
  expect(error).toMatchObject({ name: "NoAnswer", status: 404, mayPass: false });
  expect((error as NoAnswer).message).toContain("baseUrl");
  expect(asked).toHaveLength(1);
});

// modules: webhooks
test.each([
  ["has more after the same element for ever", { data: [{ eventId: "evt_1" }], hasMore: true }, 2],
  ["has more and is empty", { data: [], hasMore: true }, 1],
  ["has more after the same place for ever", { data: [], hasMore: true, nextAfter: "after_1" }, 2],
  ["has elements without ids", { data: [{}], hasMore: true }, 1],
  ["is no list", { data: "evt_1", hasMore: true }, 1],
])("a list that %s ends with an error", async (_, page, requests) => {
  const { client, asked, outcome } = clientOf(() => Response.json(page));
  const [error] = await outcome(readToItsEnd(client.listEvents()));
  expect(error).toBeInstanceOf(NoAnswer);
  expect(asked).toHaveLength(requests);
});

test("L1: a list goes on behind a page that ended early, also where that is empty", async () => {
  const asked: (string | null)[] = [];
  const { client } = clientOf((request) => {
    asked.push(new URL(request.url).searchParams.get("startingAfter"));
    return Response.json(
      asked.length === 1
        ? { data: [], hasMore: true, nextAfter: "after_1_tx_1" }
        : { data: [{ transactionId: "tx_0" }], hasMore: false },
    );
  });
  expect(await readToItsEnd(client.listTransactions({ type: "swap" }))).toBe(1);
  expect(asked).toEqual([null, "after_1_tx_1"]);
});

test("a server that does not wait when it is asked to is asked once a second at most", async () => {
  const { client, asked, outcome } = clientOf((request) =>
    Response.json({
      transactionId: "tx_1",
      status: asked.length < 10 ? "pending" : "failed",
      url: request.url,
    }),
  );
  const [error, tookMs] = await outcome(client.waitFor("tx_1", "completed"));
  expect(error).toMatchObject({ name: "StatusNotReached", transaction: { status: "failed" } });
  expect(asked).toHaveLength(10);
  expect(tookMs).toBeGreaterThanOrEqual(8_000);
});

test("no error shows the key", async () => {
  const answers = [() => refused("INVALID_API_KEY", 401), () => new Response("no", { status: 500 })];
  for (const answer of answers) {
    const { client, outcome } = clientOf(answer);
    const [error] = await outcome(client.listTokens());
    const { message, stack } = error as Error;
    expect(JSON.stringify([error, message, stack])).not.toContain(API_KEY);
  }
});

test.each([
  ["", "the transactionId as argument 1"],
  ["..", "the transactionId as argument 1"],
  [undefined as unknown as string, "the transactionId as argument 1"],
])("%j is no id, and nothing is asked", async (id, problem) => {
  const { client, asked, outcome } = clientOf(() => Response.json({}));
  const [error] = await outcome(client.cancelTransaction(id));
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toContain(problem);
  expect(asked).toEqual([]);
});

// modules: webhooks
test("an id is one part of the path, with any characters", async () => {
  const { client, asked, outcome } = clientOf(() => Response.json({}));
  await outcome(client.redeliver("wh/../../v1/account?", "dlv #1"));
  expect(asked[0]?.url).toBe(
    `${BASE_URL}/v1/webhooks/wh%2F..%2F..%2Fv1%2Faccount%3F/deliveries/dlv%20%231/redeliver`,
  );
});

test("a status that does not exist is not waited for", async () => {
  const { client, outcome } = clientOf(() => Response.json({ status: "pending" }));
  const [error] = await outcome(client.waitFor("tx_1", "complete" as "completed"));
  expect(error).toBeInstanceOf(TypeError);
});

test.each([
  [{ baseUrl: "pay.example" }, "baseUrl: expected a URL"],
  [{ baseUrl: "ftp://pay.example" }, "baseUrl: expected a URL"],
  [{ apiKey: "a key\n" }, "apiKey: expected a key of the service"],
  [{ apiKey: undefined as unknown as string }, "apiKey: expected a key of the service"],
  [{ retries: -1 }, "retries: expected a whole number, 0 or more"],
  [{ timeoutMs: 0 }, "timeoutMs: expected a whole number, 1 or more"],
  [{ fetch: "fetch" as unknown as ClientOptions["fetch"] & object }, "fetch: expected a function"],
  [{ timeout: 5 }, "timeout: expected one of baseUrl, apiKey, fetch"],
])("the options %j are refused by name", (options: object, problem) => {
  const make = (): unknown => createClient({ baseUrl: BASE_URL, apiKey: API_KEY, ...options });
  expect(make).toThrow(TypeError);
  expect(make).toThrow(problem);
  expect(make).not.toThrow("a key\n");
});

const HEADER = "transactionId,kind";
const ROWS = ["tx_1,payment", "tx_1,fee"];
const MONTH = { from: "2027-01-01T00:00:00Z", to: "2027-02-01T00:00:00Z" };

test.each([
  ["the last line is missing", [HEADER, ...ROWS, ""], "its last line is missing"],
  ["the last line is cut off", [HEADER, ...ROWS, "#end,2"], "its last line is missing"],
  ["a row is missing", [HEADER, "tx_1,payment", "#end,2", ""], "it has 1 rows, and says 2"],
  ["it goes on", [HEADER, ...ROWS, "#end,2", "tx_2,fee", ""], "it goes on where it should end"],
  ["there is nothing", [""], "its last line is missing"],
])("Q11: an export is not taken for whole where %s", async (_, lines, why) => {
  const { client, asked, outcome } = clientOf(() => new Response(lines.join("\r\n")));
  const [error] = await outcome(readToItsEnd(client.exportTransactions(MONTH)));
  expect(error).toMatchObject({ name: "NoAnswer", message: `the export cannot be used: ${why}` });
  expect(asked).toHaveLength(1);
});

test("Q11: a whole export is read line by line, however its bytes are cut", async () => {
  const bytes = new TextEncoder().encode([HEADER, "tx_1,é", ...ROWS, "#end,3", ""].join("\r\n"));
  const { client } = clientOf(() => {
    let at = 0;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (at === bytes.length) controller.close();
          else controller.enqueue(bytes.slice(at, (at += 1)));
        },
      }),
    );
  });
  const lines: string[] = [];
  for await (const line of client.exportTransactions(MONTH)) lines.push(line);
  expect(lines).toEqual([HEADER, "tx_1,é", ...ROWS]);
});

test("Q11: an export that stalls, breaks off or has an endless line ends as no answer", async () => {
  const of = (pull: (controller: ReadableStreamDefaultController) => void | Promise<void>) =>
    clientOf(() => new Response(new ReadableStream({ pull })), { timeoutMs: 5_000 });
  const stalling = of(() => new Promise(() => {}));
  const [stalled, tookMs] = await stalling.outcome(readToItsEnd(stalling.client.exportTransactions(MONTH)));
  expect(stalled).toMatchObject({ name: "NoAnswer" });
  expect(tookMs).toBeLessThan(6_000);
  const breaking = of((controller) => controller.error(new Error("reset")));
  const [broken] = await breaking.outcome(readToItsEnd(breaking.client.exportTransactions(MONTH)));
  expect(broken).toMatchObject({ name: "NoAnswer" });
  const endless = of((controller) => controller.enqueue(new Uint8Array(65_536).fill(97)));
  const [long] = await endless.outcome(readToItsEnd(endless.client.exportTransactions(MONTH)));
  expect(long).toMatchObject({ message: "the export cannot be used: a line does not end" });
});

test("Q11: an export that is refused is an error of the API, and is asked for again where that helps", async () => {
  const { client, asked, outcome } = clientOf(() => refused("STORAGE_UNAVAILABLE", 503));
  const [error] = await outcome(readToItsEnd(client.exportTransactions(MONTH)));
  expect(error).toMatchObject({ name: "ApiError", code: "STORAGE_UNAVAILABLE", attempts: 5 });
  expect(asked).toHaveLength(5);
});
