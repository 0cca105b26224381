/** The typed client against the real handler, on a local chain. */
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { isApiError, NoAnswer, StatusNotReached, type ApiError, type Transaction } from "paystate/client";
import { OPERATIONS } from "../../src/client/operations.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { clientWorld, type ClientWorld } from "./client-world.ts";

const refusal = async (ending: Promise<unknown>): Promise<unknown> => ending.catch((error: unknown) => error);

test("every endpoint has a method of its operationId, with its method and its path", () => {
  const declared = ENDPOINTS.map(({ operationId, method, path }) => [operationId, { method, path }]);
  const known = Object.entries(OPERATIONS).map(([name, { method, path }]) => [name, { method, path }]);
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(declared));
});

describe.each([
  ["through handler.fetch", false],
  ["over HTTP", true],
])("%s", (_, overHttp) => {
  let world: ClientWorld;
  beforeAll(async () => {
    world = await clientWorld({ overHttp });
  });
  afterAll(() => world.close());

  // modules: webhooks
  test("a send is quoted, signed, taken, awaited to its end and listed", async () => {
    const transactionId = await world.pay();
    const ended = await world.finalizing(world.client.waitFor(transactionId, "completed"));
    expect(ended).toMatchObject({ transactionId, status: "completed", mode: "wallet" });
    expectTypeOf(ended).toEqualTypeOf<Transaction>();
    expect(await world.client.waitFor(transactionId, "confirmed")).toEqual(ended);
    expect(await world.client.waitFor(transactionId, "final")).toEqual(ended);
    const events: string[] = [];
    for await (const { event } of world.client.listTransactionEvents(transactionId, { order: "asc" })) {
      events.push(event);
    }
    expect(events).toEqual(["transaction.pending", "transaction.confirmed", "transaction.completed"]);
  });

  test("a refusal is typed by its code, with the details of the table and the request's id", async () => {
    const transactionId = await world.pay();
    await world.finalizing(world.client.waitFor(transactionId, "final"));
    const error = await refusal(world.client.cancelTransaction(transactionId));
    if (!isApiError(error, "CANNOT_CANCEL")) throw new Error("expected CANNOT_CANCEL", { cause: error });
    expectTypeOf(error).toEqualTypeOf<ApiError<"CANNOT_CANCEL">>();
    expect(error).toMatchObject({ status: 409, attempts: 1, retryAfterMs: null });
    expect(error.details).toMatchObject({ transactionId, currentStatus: "completed" });
    expect(error.details.requestId).toMatch(/^req_/);
    expect(isApiError(error, "TRANSACTION_NOT_FOUND")).toBe(false);
    const unknown = await refusal(world.client.getTransaction("tx_none"));
    expect(unknown).toMatchObject({ name: "ApiError", code: "TRANSACTION_NOT_FOUND", status: 404 });
  });

  test("a list is read to its end, each element once, as far as its reader goes", async () => {
    const made = [await world.pay(), await world.pay(), await world.pay(), await world.pay()];
    const seen: string[] = [];
    for await (const { transactionId } of world.client.listTransactions({ limit: 1 })) {
      seen.push(transactionId);
      if (seen.length === made.length) break;
    }
    expect(seen).toEqual(made.toReversed());
    const { data, hasMore } = await world.client.listTransactions({ limit: 2 }).page();
    expect(data.map(({ transactionId }) => transactionId)).toEqual(made.toReversed().slice(0, 2));
    expect(hasMore).toBe(true);
    const all: string[] = [];
    for await (const { transactionId } of world.client.listTransactions({ limit: 2 })) {
      all.push(transactionId);
    }
    expect(new Set(all).size).toBe(all.length);
    expect(all.slice(0, made.length)).toEqual(made.toReversed());
  });

  test("Q11: a month is exported line by line to its last one", async () => {
    const paid = await world.pay();
    await world.finalizing(world.client.waitFor(paid, "final"));
    const day = 86_400_000;
    const [from = "", to = ""] = [-day, day].map((ms) => new Date(world.clock.now() + ms).toISOString());
    const lines: string[] = [];
    for await (const line of world.client.exportTransactions({ from, to, by: "final" })) lines.push(line);
    expect(lines[0]).toMatch(/^transactionId,createdAt,/);
    const kinds = lines.filter((line) => line.startsWith(paid)).map((line) => line.split(",")[8]);
    expect(kinds).toEqual(["payment", "fee"]);
    const early = world.client.exportTransactions({ from: to, to: from });
    expect(await refusal(early.next())).toMatchObject({ code: "VALIDATION_ERROR" });
  });

  // modules: webhooks
  test("what needs no key, and what takes neither body nor query, is asked as well", async () => {
    expect((await world.client.getOpenApi()).openapi).toMatch(/^3\.1/);
    expect(await world.client.getDocs()).toContain("<html");
    const { tokens } = await world.client.listTokens();
    expectTypeOf(tokens[0]?.decimals).toEqualTypeOf<number | undefined>();
    expect(tokens.map(({ symbol }) => symbol).toSorted()).toEqual(["SOL", "USDC", "USDT"]);
    expect((await world.client.getAccount()).tier).toBe("enterprise");
    expect(await world.client.listWebhooks()).toEqual({ webhooks: [] });
  });
});

describe("what is lost on its way", () => {
  let world: ClientWorld;
  beforeAll(async () => {
    world = await clientWorld({ broadcastDelayMs: 20_000 });
  });
  afterAll(() => world.close());

  /** Loses the answers to so many requests, after the service has carried them out. */
  const losing = (
    method: string,
    answers: number,
  ): { keys: (string | null)[]; fetch: typeof world.handler.fetch } => {
    const keys: (string | null)[] = [];
    return {
      keys,
      async fetch(request) {
        const response = await world.handler.fetch(request);
        if (request.method !== method) return response;
        keys.push(request.headers.get("idempotency-key"));
        if (keys.length > answers) return response;
        throw new TypeError("fetch failed");
      },
    };
  };
  const soon = {
    now: () => 0,
    sleep: (ms: number) => (ms < 60_000 ? Promise.resolve() : new Promise<void>(() => {})),
  };
  const quote = { inputAsset: "SOL", outputAsset: "SOL", amount: "1" };

  test("a lost answer is asked for again under the same key: nothing is made twice", async () => {
    const lost = losing("POST", 2);
    const client = world.clientWith({ fetch: lost.fetch, clock: soon });
    const made = await client.createQuote(quote);
    expect(lost.keys).toHaveLength(3);
    expect(new Set(lost.keys).size).toBe(1);
    expect(lost.keys[0]).toMatch(/^client_[0-9a-f]{32}$/);
    const other = await client.createQuote(quote);
    expect(other.quoteId).not.toBe(made.quoteId);
  });

  test("when no answer comes at all the error has the key, and asking with it finds what was made", async () => {
    const lost = losing("POST", Infinity);
    const client = world.clientWith({ fetch: lost.fetch, clock: soon, retries: 1 });
    const error = await refusal(client.createQuote(quote));
    if (!(error instanceof NoAnswer)) throw new Error("expected NoAnswer", { cause: error });
    expect(error).toMatchObject({ attempts: 2, status: null, mayPass: true });
    const idempotencyKey = error.idempotencyKey ?? "";
    const found = await world.client.createQuote(quote, { idempotencyKey });
    expect(await world.client.createQuote(quote, { idempotencyKey })).toEqual(found);
    const reused = await refusal(world.client.createQuote({ ...quote, amount: "2" }, { idempotencyKey }));
    expect(isApiError(reused, "IDEMPOTENCY_KEY_REUSED")).toBe(true);
  });

  test("a cancellation whose answer was lost is refused in a way that tells of it", async () => {
    const transactionId = await world.pay();
    const client = world.clientWith({ fetch: losing("DELETE", 1).fetch, clock: soon });
    const error = await refusal(client.cancelTransaction(transactionId));
    expect(error).toMatchObject({
      code: "CANNOT_CANCEL",
      attempts: 2,
      details: { currentStatus: "cancelled" },
    });
    expect(await world.client.waitFor(transactionId, "final")).toMatchObject({ status: "cancelled" });
  });

  test("waiting for a status that will not come ends with the transaction, and never as if it had come", async () => {
    const transactionId = await world.pay();
    const waiting = refusal(world.client.waitFor(transactionId, "completed"));
    await world.client.cancelTransaction(transactionId);
    const error = await waiting;
    if (!(error instanceof StatusNotReached)) throw new Error("expected StatusNotReached", { cause: error });
    expect(error).toMatchObject({ wanted: "completed", transaction: { transactionId, status: "cancelled" } });
    const cancelled = await world.client.waitFor(transactionId, "cancelled");
    expect(cancelled).toMatchObject({ status: "cancelled" });
  });

  test.each(["failed", "cancelled"] as const)(
    "R30: waiting for %s goes on while the transaction is on its way",
    async (wanted) => {
      const transactionId = await world.pay();
      const error = await world.finalizing(refusal(world.client.waitFor(transactionId, wanted)));
      expect(error).toMatchObject({ wanted, transaction: { status: "completed" } });
    },
  );

  test("a signal ends waiting with its reason", async () => {
    const transactionId = await world.pay();
    const ending = new AbortController();
    const waiting = refusal(world.client.waitFor(transactionId, "final", { signal: ending.signal }));
    const reason = new Error("the page was left");
    setImmediate(() => ending.abort(reason));
    expect(await waiting).toBe(reason);
    expect(await refusal(world.client.getAccount({ signal: ending.signal }))).toBe(reason);
    expect(await world.client.cancelTransaction(transactionId)).toMatchObject({ status: "cancelled" });
  });
});
