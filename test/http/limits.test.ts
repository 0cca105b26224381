/** Limits that are counted in the process: per account, per group, per minute, on the injected clock. */
import { Keypair } from "@solana/web3.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HttpHandlerOptions, createHttpHandler } from "../../src/http/create-http-handler.ts";
import { RateWindow } from "../../src/http/rate-window.ts";
import { sha256Hex } from "../../src/payments/frame/ids.ts";
import { memoryStorage } from "../kit/storages.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { sampled } from "../kit/thorough.ts";
import { httpFixture, type Told } from "./http-fixture.ts";
import { httpTest } from "./http-test.ts";
import { WAYS } from "./ways.ts";

const limits = {
  reads: { free: 3, pro: 5, enterprise: 7 },
  creates: { free: 2, pro: 2, enterprise: 2 },
  failedAuthentications: 4,
};

/** The wallet of somebody who holds nothing. */
const payee = (n: number): string => Keypair.fromSeed(new Uint8Array(32).fill(n + 1)).publicKey.toBase58();

describe.each(sampled(WAYS, "ways to limits"))("$name", (way) => {
  const wayTest = httpTest.extend("http", ({ httpOf }) => {
    const clientAddress: HttpHandlerOptions["clientAddress"] = ({ headers }) => headers.get("x-client");
    return httpOf(way, { handler: { limits, clientAddress } });
  });

  wayTest(
    "the request after the last allowed one is 429 and says when to come back; the window slides",
    async ({ http }) => {
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
        docUrl: "/v1/docs#RATE_LIMIT_EXCEEDED",
      });
      expect(refused.headers.get("retry-after")).toBe("30");
      expect(refused.headers.get("ratelimit")).toBe('"reads";r=0;t=30');
      http.clock.advance(30_000);
      expect((await client.get("/v1/tokens")).status).toBe(200);
      expect((await client.get("/v1/tokens")).status).toBe(429);
    },
  );

  wayTest(
    "what is refused counts: wrong scopes, unknown paths and methods, and bad addresses",
    async ({ http }) => {
      const client = await http.client({ scopes: ["balances:read"] });
      expect((await client.get("/v1/tokens")).status).toBe(403);
      expect((await client.get("/v1/nothing")).status).toBe(404);
      expect((await client.get("/v1/balances/0")).status).toBe(400);
      expect((await client.get("/v1/balances/0")).status).toBe(429);
      // The scope is looked at first.
      expect((await client.get("/v1/tokens")).status).toBe(403);
    },
  );

  // modules: webhooks
  wayTest("limits are per account, not per key, and each tier and group has its own", async ({ http }) => {
    const client = await http.client({ tier: "pro" });
    const { caller } = client;
    const colleague = await http.client({ caller });
    for (let n = 0; n < 5; n++) await client.get("/v1/tokens");
    expect((await colleague.get("/v1/tokens")).status).toBe(429);
    expect((await colleague.delete("/v1/webhooks/wh_0")).status).toBe(404);
    expect((await (await http.client()).get("/v1/tokens")).status).toBe(200);
  });

  wayTest("a replay takes nothing of the limit, with a key and without", async ({ http }) => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    for (let n = 0; n < 5; n++) {
      const answer = await client.post("/v1/transactions", body, { "idempotency-key": "k" });
      expect(answer.status).toBe(201);
      expect(answer.headers.get("ratelimit")).toMatch('"creates";r=1;');
    }
    const again = await client.post("/v1/transactions", body);
    expect([again.status, again.headers.get("ratelimit")?.slice(0, 14)]).toEqual([201, '"creates";r=1;']);
  });

  // modules: webhooks
  wayTest(
    "H26: a replay is answered with a full window, ten times as often as the limit, and says how the account stands",
    async ({ http }) => {
      const client = await http.client();
      const { body } = await client.prepareSend();
      const post = (key: string): Promise<Told> =>
        client.post("/v1/transactions", body, { "idempotency-key": key });
      const first = await post("k");
      await client.delete("/v1/webhooks/wh_0");
      // The window is full now: what is new is refused, and moves nothing.
      const other = await client.post("/v1/transactions", (await client.prepareSend()).body, {
        "idempotency-key": "n",
      });
      expect(other).toMatchObject({ status: 429, details: { scope: "creates", limit: 2 } });
      // The refusal has asked for a replay, too: there might have been one.
      for (let n = 1; n < 20; n++) {
        const again = await post("k");
        expect([again.status, again.text]).toEqual([201, first.text]);
        expect(again.headers.get("idempotent-replayed")).toBe("true");
        expect(again.headers.get("ratelimit")).toMatch('"creates";r=0;');
        expect(again.headers.get("ratelimit-policy")).toBe('"creates";q=2;w=60');
      }
      const worn = await post("k");
      expect(worn).toMatchObject({ status: 429, code: "RATE_LIMIT_EXCEEDED" });
      expect(worn.details).toMatchObject({ scope: "replays", limit: 20, windowSeconds: 60 });
      expect(worn.headers.get("ratelimit-policy")).toBe('"replays";q=20;w=60');
      http.clock.advance(60_000);
      expect((await post("k")).text).toBe(first.text);
    },
  );

  // modules: webhooks
  wayTest(
    "H26: the window of replays is an account's own, and another body under the key is no replay",
    async ({ http }) => {
      const client = await http.client();
      const { body } = await client.prepareSend();
      await client.post("/v1/transactions", body, { "idempotency-key": "k" });
      await client.delete("/v1/webhooks/wh_0");
      const reused = await client.post(
        "/v1/transactions",
        { ...body, reference: "x" },
        { "idempotency-key": "k" },
      );
      expect(reused).toMatchObject({ status: 429, details: { scope: "creates" } });
      const stranger = await http.client();
      const theirs = await stranger.post("/v1/transactions", body, { "idempotency-key": "k" });
      expect(theirs).toMatchObject({ status: 422, code: "INVALID_QUOTE", details: { reason: "not_found" } });
      expect(theirs.headers.get("ratelimit")).toMatch('"creates";r=1;');
    },
  );

  wayTest(
    "a keyed request that is refused counts once: for its body, its scope, its key or its fields",
    async ({ http }) => {
      const client = await http.client();
      const colleague = await http.client({ caller: client.caller, scopes: ["tokens:read"] });
      const left = async (told: Promise<Told>): Promise<string | null> =>
        (await told).headers.get("ratelimit");
      const key = { "idempotency-key": "k" };
      expect(await left(client.post("/v1/transactions", "{", key))).toBe('"creates";r=1;t=60');
      expect(await left(colleague.post("/v1/transactions", {}, key))).toBe('"creates";r=0;t=60');
      const full = await client.post("/v1/transactions", "{", key);
      expect(full).toMatchObject({ status: 429, details: { scope: "creates" } });
      const other = await http.client();
      expect(await left(other.post("/v1/transactions", {}, { "idempotency-key": "a b" }))).toBe(
        '"creates";r=1;t=60',
      );
      expect(await left(other.post("/v1/transactions", {}, key))).toBe('"creates";r=0;t=60');
    },
  );

  wayTest(
    "failed authentications are limited by client address; a good key is never refused for its neighbours",
    async ({ http }) => {
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
      // A key issued before keys had their checksum: in use it goes on; before that it might as well be made up.
      const client = await http.client({ isIssuedBefore: true });
      expect((await client.get("/v1/tokens", { "x-client": "203.0.113.7" })).status).toBe(429);
      expect((await client.get("/v1/tokens", { "x-client": "203.0.113.8" })).status).toBe(200);
      expect((await client.get("/v1/tokens", { "x-client": "203.0.113.7" })).status).toBe(200);
      await http.service.revokeKey(client.key.split("_")[2] ?? "");
      expect((await client.get("/v1/tokens", { "x-client": "203.0.113.7" })).status).toBe(429);
      // Nobody knows who this is, so nobody is limited.
      for (let n = 0; n < 9; n++) expect((await http.stranger("/v1/tokens")).status).toBe(401);
    },
  );

  wayTest("Q12: quotes are limited by the senders and recipients that they ask about", async ({ http }) => {
    const quoteParties = { free: 5, pro: 5, enterprise: 5 };
    const { service, clock } = http;
    const { ask, close } = await way.open(createHttpHandler({ service, clock, limits: { quoteParties } }));
    const client = await http.client();
    const quote = (recipients: number, key?: string) => {
      const to = Array.from({ length: recipients }, (_, n) => ({ address: payee(n), amount: "1" }));
      const named = to.length === 0 ? {} : { recipients: to, amount: String(to.length) };
      const body = JSON.stringify({ inputAsset: "SOL", outputAsset: "SOL", amount: "1", ...named });
      const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/json" };
      const keyed = key === undefined ? headers : { ...headers, "idempotency-key": key };
      return ask("/v1/quotes", { method: "POST", headers: keyed, body });
    };
    expect((await quote(2, "once")).status).toBe(201);
    clock.advance(10_000);
    expect((await quote(2)).status).toBe(201);
    // Nobody is asked about, and a replay asks about nobody anew.
    expect([(await quote(0)).status, (await quote(2, "once")).status]).toEqual([201, 201]);
    const refused = await quote(3);
    expect(refused.status).toBe(429);
    // The first two leave in 50 seconds, which is enough.
    expect(refused.headers.get("retry-after")).toBe("50");
    expect(JSON.parse(await refused.text())).toMatchObject({
      error: { details: { scope: "quote_parties", limit: 5, windowSeconds: 60, tier: "free" } },
    });
    expect((await quote(1)).status).toBe(201);
    clock.advance(50_000);
    expect((await quote(3)).status).toBe(429);
    // More than the limit takes the whole of it.
    clock.advance(60_000);
    expect((await quote(6)).status).toBe(201);
    expect((await quote(1)).status).toBe(429);
    const account = await ask("/v1/account", { headers: { authorization: `Bearer ${client.key}` } });
    expect(JSON.parse(await account.text())).toMatchObject({
      limits: expect.arrayContaining([
        expect.objectContaining({ scope: "quote_parties", remaining: 0 }),
      ]) as object,
    });
    await close();
  });

  wayTest("a host that reads the body to authenticate reads a clone", async ({ http }) => {
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

  wayTest("a host's own authentication stands in for keys: null is 401, an error 500", async ({ http }) => {
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

test("H28: of 1,000 made-up keys from one address 60 are looked up, and a key in use is not refused for them", async () => {
  const way = WAYS[0];
  if (way === undefined) throw new Error("there is such a way");
  const storage = await memoryStorage();
  let lookups = 0;
  const counting: PaymentStorage = {
    ...storage,
    find: (query) => {
      lookups += query.table.name === "apiKeys" ? 1 : 0;
      return storage.find(query);
    },
  };
  const clientAddress: HttpHandlerOptions["clientAddress"] = ({ headers }) => headers.get("x-client");
  const http = await httpFixture(way, { service: { storage: counting }, handler: { clientAddress } });
  const client = await http.client({ isIssuedBefore: true });
  await client.get("/v1/tokens", { "x-client": "203.0.113.9" });
  lookups = 0;
  const statuses = new Map<number, number>();
  for (let n = 0; n < 1_000; n++) {
    const authorization = `Bearer ${madeUpKey(n)}`;
    const { status } = await http.stranger("/v1/tokens", {
      headers: { authorization, "x-client": "203.0.113.7" },
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect([...statuses]).toEqual([
    [401, 60],
    [429, 940],
  ]);
  expect(lookups).toBe(60);
  expect((await client.get("/v1/tokens", { "x-client": "203.0.113.7" })).status).toBe(200);
  expect(lookups).toBe(61);
  await http.close();
});

/** Of the right shape, its checksum included, which everybody can compute. */
function madeUpKey(n: number, prefix = "ps"): string {
  const body = `${prefix}_test_${String(n).padStart(32, "0")}_${String(n).padStart(64, "0")}`;
  return `${body}_${sha256Hex(body).slice(0, prefix === "ps" ? 8 : 16)}`;
}

test("U11: a stranger's bad keys behind the same proxy: good keys go on, also after a restart", async () => {
  const storage = await memoryStorage();
  let reads = 0;
  const counting: PaymentStorage = {
    ...storage,
    find: (query) => {
      reads += query.key === undefined ? 0 : 1;
      return storage.find(query);
    },
  };
  const way = WAYS[0];
  if (way === undefined) throw new Error("there is such a way");
  const http = await httpFixture(way, {
    service: { storage: counting },
    handler: { limits, clientAddress: () => "203.0.113.7" },
  });
  const good = await http.client();
  const older = await http.client({ isIssuedBefore: true });
  const revoked = await http.client();
  await http.service.revokeKey(revoked.key.split("_")[2] ?? "");
  // The next process: it has seen none of the keys.
  const service = http.another({
    storage: counting,
    masterSecrets: [{ version: 2, secret: new Uint8Array(32).fill(8) }, TEST_MASTER_SECRET],
  });
  await service.start();
  const next = await way.open(
    createHttpHandler({ service, clock: http.clock, limits, clientAddress: () => "203.0.113.7" }),
  );
  const statusOf = async (key: string): Promise<number> =>
    (await next.ask("/v1/tokens", { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await statusOf(revoked.key)).toBe(401);
  reads = 0;
  for (let n = 0; n < 100; n++) expect(await statusOf(madeUpKey(n, "psk"))).toBe(401);
  for (let n = 0; n < 100; n++) expect(await statusOf(revoked.key)).toBe(401);
  expect(reads).toBe(0);
  expect([await statusOf(good.key), await statusOf(older.key)]).toEqual([200, 200]);
  for (let n = 0; n < 9; n++) await statusOf(madeUpKey(n));
  expect(await statusOf(madeUpKey(9))).toBe(429);
  expect([await statusOf(good.key), await statusOf(older.key)]).toEqual([200, 200]);
  const another = await http.client();
  expect(await statusOf(another.key)).toBe(200);
  reads = 0;
  http.clock.advance(60_000);
  expect(await statusOf(revoked.key)).toBe(401);
  expect(reads).toBeGreaterThan(0);
  await next.close();
  await service.stop();
  await http.close();
});

test("H28: where the secret of the checksums does not open, made-up keys are counted, and a key in use goes on", async () => {
  const storage = await memoryStorage();
  let lookups = 0;
  const counting: PaymentStorage = {
    ...storage,
    find: (query) => {
      lookups += query.table.name === "apiKeys" ? 1 : 0;
      return storage.find(query);
    },
  };
  const way = WAYS[0];
  if (way === undefined) throw new Error("there is such a way");
  const http = await httpFixture(way, { service: { storage: counting } });
  const good = await http.client();
  const masterSecrets = [{ version: 2, secret: new Uint8Array(32).fill(8) }] as const;
  const service = http.another({ storage: counting, masterSecrets });
  const clientAddress = (): string => "203.0.113.7";
  const next = await way.open(createHttpHandler({ service, clock: http.clock, limits, clientAddress }));
  const statusOf = async (key: string): Promise<number> =>
    (await next.ask("/v1/tokens", { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await statusOf(good.key)).toBe(200);
  lookups = 0;
  for (let n = 0; n < 4; n++) expect(await statusOf(madeUpKey(n, "psk"))).toBe(401);
  for (let n = 4; n < 99; n++) expect(await statusOf(madeUpKey(n, "psk"))).toBe(429);
  expect(lookups).toBe(4);
  expect(await statusOf(good.key)).toBe(200);
  await next.close();
  await service.stop();
  await http.close();
});

test("a stolen key that is used from elsewhere is answered as a made-up one", async () => {
  const way = WAYS[1];
  if (way === undefined) throw new Error("there is such a way");
  const clientAddress: HttpHandlerOptions["clientAddress"] = ({ headers }) =>
    headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? null;
  const http = await httpFixture(way, { handler: { limits, clientAddress } });
  const { accountId } = await http.caller();
  const allowedAddresses = ["203.0.113.0/28"];
  const { key } = await http.service.issueKey({ accountId, environment: "test", allowedAddresses });
  const from = async (credentials: string, forwarded: string): Promise<Told> =>
    http.stranger("/v1/tokens", {
      headers: { authorization: `Bearer ${credentials}`, "x-forwarded-for": forwarded },
    });
  expect((await from(key, "198.51.100.1, 203.0.113.1")).status).toBe(200);
  // What the client itself has written stands before what the proxy has added.
  const stolen = await from(key, "203.0.113.1, 198.51.100.1");
  const unknown = await from(madeUpKey(1, "psk"), "198.51.100.2");
  const shown = ({ status, text, headers }: Told): unknown => {
    const names = [...headers].filter(([name]) => !/^(date|x-request-id)$/.test(name));
    return { status, text: text.replace(/req_[0-9a-f]+/, ""), names };
  };
  expect(shown(stolen)).toEqual(shown(unknown));
  expect(stolen).toMatchObject({ status: 401, code: "INVALID_API_KEY" });
  expect((await from(key, "203.0.113.2")).status).toBe(200);
  await http.close();
});

test("a key with allowed addresses goes by the socket where no proxy is named, and is refused where there is no socket", async () => {
  const statuses: number[] = [];
  for (const way of WAYS) {
    const http = await httpFixture(way, { handler: { limits } });
    const { accountId } = await http.caller();
    for (const address of ["127.0.0.0/8", "203.0.113.7"]) {
      const { key } = await http.service.issueKey({
        accountId,
        environment: "test",
        allowedAddresses: [address],
      });
      const headers = { authorization: `Bearer ${key}`, "x-forwarded-for": "203.0.113.7" };
      statuses.push((await http.stranger("/v1/tokens", { headers })).status);
    }
    await http.close();
  }
  expect(statuses).toEqual([401, 401, 200, 401]);
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
      const window = new RateWindow({ scope: "reads", clock });
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
  const window = new RateWindow({ scope: "reads", clock: virtualClock(), maxKeys: 2 });
  window.hit("a", 1);
  window.hit("b", 1);
  expect(window.hit("a", 1).accepted).toBe(false);
  window.hit("c", 1);
  expect(window.hit("a", 1).accepted).toBe(false);
  expect(window.hit("b", 1).accepted).toBe(true);
});

test("a hit that is given back frees its place once", () => {
  const window = new RateWindow({ scope: "reads", clock: virtualClock() });
  window.hit("a", 2);
  const second = window.hit("a", 2);
  expect(window.hit("a", 2).giveBack().remaining).toBe(0);
  expect(second.giveBack().remaining).toBe(1);
  expect(window.hit("a", 2).accepted).toBe(true);
  expect(window.hit("a", 2).accepted).toBe(false);
});
