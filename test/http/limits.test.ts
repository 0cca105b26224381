/** Limits that are counted in the process: per account, per group, per minute, on the injected clock. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpHandlerOptions } from "../../src/http/create-http-handler.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { createRateWindow } from "../../src/http/rate-window.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { httpFixture } from "./http-fixture.ts";
import type { HttpFixture } from "./http-fixture.ts";
import { WAYS } from "./ways.ts";

const limits = {
  reads: { free: 3, pro: 5, enterprise: 7 },
  creates: { free: 2, pro: 2, enterprise: 2 },
  failedAuthentications: 4,
};

describe.each(WAYS)("$name", (way) => {
  let http: HttpFixture;
  beforeAll(async () => {
    const clientAddress: HttpHandlerOptions["clientAddress"] = ({ headers }) => headers.get("x-client");
    http = await httpFixture(way, { handler: { limits, clientAddress } });
  });
  afterAll(() => http.close());

  test("the request after the last allowed one is 429 and says when to come back; the window slides", async () => {
    const client = await http.client();
    for (const left of [2, 1, 0]) {
      const answer = await client.get("/v1/tokens");
      expect(answer.headers.get("ratelimit-policy")).toBe('"reads";q=3;w=60');
      expect(answer.headers.get("ratelimit")).toMatch(`"reads";r=${left};t=`);
      http.clock.advance(10_000);
    }
    const refused = await client.get("/v1/tokens");
    expect(refused).toMatchObject({ status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(refused.details).toEqual({
      scope: "reads",
      limit: 3,
      windowSeconds: 60,
      retryAfter: 30,
      tier: "free",
      requestId: refused.headers.get("x-request-id"),
    });
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(refused.headers.get("ratelimit")).toBe('"reads";r=0;t=30');
    http.clock.advance(30_000);
    expect((await client.get("/v1/tokens")).status).toBe(200);
    expect((await client.get("/v1/tokens")).status).toBe(429);
  });

  test("what is refused counts: wrong scopes, unknown paths and methods, and bad addresses", async () => {
    const client = await http.client({ scopes: ["balances:read"] });
    expect((await client.get("/v1/tokens")).status).toBe(403);
    expect((await client.get("/v1/nothing")).status).toBe(404);
    expect((await client.get("/v1/balances/0")).status).toBe(400);
    expect((await client.get("/v1/balances/0")).status).toBe(429);
    // The scope is looked at first.
    expect((await client.get("/v1/tokens")).status).toBe(403);
  });

  test("limits are per account, not per key, and each tier and group has its own", async () => {
    const client = await http.client({ tier: "pro" });
    const { caller } = client;
    const colleague = await http.client({ caller });
    for (let n = 0; n < 5; n++) await client.get("/v1/tokens");
    expect((await colleague.get("/v1/tokens")).status).toBe(429);
    expect((await colleague.delete("/v1/webhooks/wh_0")).status).toBe(404);
    expect((await (await http.client()).get("/v1/tokens")).status).toBe(200);
  });

  test("a replay costs nothing", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    for (let n = 0; n < 5; n++) {
      const answer = await client.post("/v1/transactions", body, { "idempotency-key": "k" });
      expect(answer.status).toBe(201);
      expect(answer.headers.get("ratelimit")).toMatch('"creates";r=1;');
    }
  });

  test("failed authentications are limited by client address; a good key is never refused for its neighbours", async () => {
    const stranger = (address: string) => http.stranger("/v1/tokens", { headers: { "x-client": address } });
    for (const left of [3, 2, 1, 0]) {
      const failed = await stranger("203.0.113.7");
      expect(failed.status).toBe(401);
      expect(failed.headers.get("ratelimit")).toBe(`"authentication";r=${left};t=60`);
    }
    const refused = await stranger("203.0.113.7");
    expect(refused).toMatchObject({ status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(refused.details).toMatchObject({ scope: "authentication", limit: 4, tier: "none" });
    expect(refused.headers.get("retry-after")).toBe("60");
    // The same address in another notation, and another one.
    expect((await stranger("::ffff:203.0.113.7")).status).toBe(429);
    expect((await stranger("203.0.113.8")).status).toBe(401);
    // One client has a whole IPv6 network.
    for (let n = 0; n < 4; n++) await stranger(`2001:db8::${n}`);
    expect((await stranger("2001:db8::ffff")).status).toBe(429);
    expect((await stranger("2001:db8:0:1::1")).status).toBe(401);
    const client = await http.client();
    expect((await client.get("/v1/tokens", { "x-client": "203.0.113.7" })).status).toBe(200);
    // Nobody knows who this is, so nobody is limited.
    for (let n = 0; n < 9; n++) expect((await http.stranger("/v1/tokens")).status).toBe(401);
  });

  test("a host that reads the body to authenticate reads a clone", async () => {
    const caller = await http.caller();
    const authenticate: HttpHandlerOptions["authenticate"] = async (request) =>
      (await request.clone().text()).includes("SOL") ? caller : null;
    const handler = createHttpHandler({ service: http.service, clock: http.clock, authenticate });
    const { ask, close } = await way.open(handler);
    const body = JSON.stringify({ inputAsset: "SOL", outputAsset: "SOL", amount: "1" });
    const headers = { "content-type": "application/json" };
    expect((await ask("/v1/quotes", { method: "POST", headers, body })).status).toBe(201);
    await close();
  });

  test("a host's own authentication stands in for keys: null is 401, an error 500", async () => {
    const caller = await http.caller();
    const authenticate: HttpHandlerOptions["authenticate"] = async ({ headers }) => {
      if (headers.get("cookie") === "broken") throw new Error("the session store is down");
      return headers.get("cookie") === "good" ? caller : null;
    };
    const handler = createHttpHandler({ service: http.service, clock: http.clock, authenticate });
    const { ask, close } = await way.open(handler);
    const status = async (cookie: string): Promise<number> =>
      (await ask("/v1/tokens", { headers: { cookie } })).status;
    expect(await status("good")).toBe(200);
    expect(await status("bad")).toBe(401);
    expect(await status("broken")).toBe(500);
    await close();
  });
});

test("through node:http the address of the socket is limited by itself", async () => {
  const way = WAYS[1];
  if (way === undefined) throw new Error("there is such a way");
  const http = await httpFixture(way, { handler: { limits } });
  for (let n = 0; n < 4; n++) expect((await http.stranger("/v1/tokens")).status).toBe(401);
  expect((await http.stranger("/v1/tokens")).status).toBe(429);
  await http.close();
});

test("no window of 60 seconds ever holds more than its limit, and nobody is refused without reason", () => {
  const gaps = fc.array(fc.nat(40_000), { maxLength: 60 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 6 }), (steps, limit) => {
      const clock = virtualClock();
      const window = createRateWindow({ scope: "reads", clock });
      const accepted: number[] = [];
      for (const step of steps) {
        clock.advance(step);
        const recent = accepted.filter((at) => at > clock.now() - 60_000);
        const hit = window.hit("account", limit);
        expect(hit.accepted).toBe(recent.length < limit);
        if (hit.accepted) accepted.push(clock.now());
        expect(hit.standing.remaining).toBe(limit - recent.length - (hit.accepted ? 1 : 0));
        const free = (recent[0] ?? clock.now()) + 60_000 - clock.now();
        expect(hit.standing.resetSeconds).toBe(Math.max(1, Math.ceil(free / 1_000)));
      }
    }),
  );
});

test("windows are forgotten, the longest unused first, before they fill the memory", () => {
  const window = createRateWindow({ scope: "reads", clock: virtualClock(), mostKeys: 2 });
  window.hit("a", 1);
  window.hit("b", 1);
  expect(window.hit("a", 1).accepted).toBe(false);
  window.hit("c", 1);
  expect(window.hit("a", 1).accepted).toBe(false);
  expect(window.hit("b", 1).accepted).toBe(true);
});

test("a hit that is given back frees its place once", () => {
  const window = createRateWindow({ scope: "reads", clock: virtualClock() });
  window.hit("a", 2);
  const second = window.hit("a", 2);
  expect(window.hit("a", 2).giveBack().remaining).toBe(0);
  expect(second.giveBack().remaining).toBe(1);
  expect(window.hit("a", 2).accepted).toBe(true);
  expect(window.hit("a", 2).accepted).toBe(false);
});
