/** The requests below `/_dev`: each does to the chain what it says, and none is answered to a stranger. */
import { request } from "node:http";
import { expect } from "vitest";
import { withDevHelpers } from "../../src/cli/dev-helpers.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import type { Tier } from "../../src/payments/frame/tables/identity.ts";
import { listening } from "../http/ways.ts";
import { privateTest } from "../kit/private-test.ts";

const SLOT_MS = 400;
const TIERS = ["free", "pro", "enterprise"] as const;

interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** `customer` is the account of the key `pro`; `baseUrl` is where the helpers are, and `post` asks one of them. */
const test = privateTest
  .extend("apiKeys", async ({ world: { service } }) => {
    const keys = TIERS.map(async (tier) => {
      const { accountId } = await service.createAccount({ name: tier, tier });
      return [tier, (await service.issueKey({ accountId, environment: "test" })).key] as const;
    });
    return Object.fromEntries(await Promise.all(keys)) as Record<Tier, string>;
  })
  .extend("customer", ({ world, apiKeys }) => world.service.authenticate(`Bearer ${apiKeys.pro}`))
  .extend("baseUrl", async ({ world, apiKeys }, { onCleanup }) => {
    const { chain, ledger, service } = world;
    const payer = chain.createWallet("alice", { lamports: 1_000_000_000n, usdc: 100_000_000n });
    chain.advance(35);
    const api = createHttpHandler({ service, clock: world.clock });
    const clock = { now: () => world.clock.now(), pass: (ms: number) => world.clock.advance(ms) };
    const parts = { chain, slotMs: SLOT_MS, clock, ledger, service, apiKeys, payer };
    const answer = withDevHelpers(parts, api.node);
    const { origin, close } = await listening(answer);
    onCleanup(close);
    return origin;
  })
  .extend("post", ({ baseUrl }) => async (act: string, body: unknown): Promise<Answered> => {
    const answered = await fetch(`${baseUrl}/_dev/${act}`, { method: "POST", body: JSON.stringify(body) });
    return { status: answered.status, body: (await answered.json()) as Answered["body"] };
  });

test("fund gives exactly the amount, and refuses what is no amount, asset or address", async ({
  world,
  post,
}) => {
  const { address } = world.chain.faucet;
  const held = async (): Promise<readonly bigint[]> => {
    world.chain.advance(35);
    return world.held(address);
  };
  const before = await held();
  expect(await post("fund", { address, asset: "USDC", amount: "12.5" })).toMatchObject({ status: 200 });
  const after = await held();
  expect((after[1] ?? 0n) - (before[1] ?? 0n)).toBe(12_500_000n);

  const wrong: readonly (readonly [object, number, string])[] = [
    [{ address: "me", asset: "USDC", amount: "1" }, 400, "address: expected a base58 address"],
    [
      { address, asset: "EUR", amount: "1" },
      400,
      'asset: Invalid option: expected one of "SOL"|"USDC"|"USDT"',
    ],
    [{ address, asset: "USDC", amount: "-1" }, 400, 'amount: expected a decimal text such as "12.5"'],
    [
      { address, asset: "USDC", amount: "0.0000001" },
      409,
      "amount: expected a decimal text above 0 with at most 6 decimals",
    ],
    [{ address, asset: "USDC", amount: "1", to: "x" }, 400, 'the body: Unrecognized key: "to"'],
  ];
  for (const [body, status, error] of wrong) {
    expect(await post("fund", body)).toEqual({ status, body: { error } });
  }
  expect((await held())[1]).toBe(after[1]);
});

// modules: private
test("deposit pays what a private order of any account waits for, and the order completes", async ({
  world,
  customer,
  post,
}) => {
  const bob = world.chain.createWallet("bob", { lamports: 1_000_000_000n }).address;
  const sender = world.wallet("carol", { lamports: 1_000_000_000n });
  const { body } = await world.order(customer, {
    sender,
    to: [{ address: bob, amount: "25" }],
  });
  const { transactionId, depositAmount, ephemeralAddress: to } = body;
  expect(await post("deposit", { transactionId })).toMatchObject({
    status: 200,
    body: { asset: "USDC", amount: depositAmount, to },
  });
  await world.settle(8);
  expect(await world.service.transaction(customer, transactionId)).toMatchObject({ status: "completed" });
  expect((await world.held(bob))[1]).toBe(25_000_000n);

  const again = await post("deposit", { transactionId });
  expect(again).toEqual({
    status: 409,
    body: { error: `${transactionId} waits for no deposit: 0 left, completed` },
  });
  expect(await post("deposit", { transactionId: "tx_none" })).toEqual({
    status: 409,
    body: { error: "no account of this paystate dev has a transaction tx_none" },
  });
});

// modules: private
test("deposit pays the amount that is named, and expire ends the window of the order", async ({
  world,
  customer,
  post,
}) => {
  const bob = world.chain.createWallet("bob", { lamports: 1_000_000_000n }).address;
  const sender = world.wallet("carol", { lamports: 1_000_000_000n });
  const { body } = await world.order(customer, { sender, to: [{ address: bob, amount: "25" }] });
  const { transactionId } = body;
  expect(await post("deposit", { transactionId, amount: "5" })).toMatchObject({ body: { amount: "5" } });
  expect(await post("deposit", { transactionId, amount: "0" })).toMatchObject({ status: 409 });
  const over = Date.parse(body.depositExpiresAt);
  expect(world.clock.now()).toBeLessThan(over);
  expect(await post("expire", { transactionId })).toMatchObject({ status: 200 });
  expect(world.clock.now()).toBeGreaterThan(over);
  expect(await post("expire", { transactionId })).toEqual({ status: 200, body: { seconds: 0 } });
  await world.settle(8);
  const ended = await world.service.transaction(customer, transactionId);
  expect(ended).toMatchObject({ status: "failed", reason: "INCOMPLETE_DEPOSIT" });
});

test("clock lets the slots of so many seconds pass, and no part of a slot is left out", async ({
  world,
  post,
}) => {
  const slot = world.chain.slot();
  const { body } = await post("clock", { seconds: 1 });
  expect(body).toEqual({ slots: 3, slot: slot + 3, blockHeight: world.chain.blockHeight() });
  expect(world.chain.slot()).toBe(slot + 3);
  for (const seconds of [0, 0.5, -1, 86_401, "1"]) {
    expect(await post("clock", { seconds })).toMatchObject({ status: 400 });
  }
  expect(world.chain.slot()).toBe(slot + 3);
});

test("fail makes exactly the next calls of the chain fail, and 0 ends that", async ({ world, post }) => {
  const ask = async (): Promise<number> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getSlot" });
    return (await world.chain.fetch("http://local", { method: "POST", body })).status;
  };
  expect(await post("fail", { next: 2 })).toEqual({ status: 200, body: { next: 2 } });
  expect([await ask(), await ask(), await ask()]).toEqual([503, 503, 200]);
  // The last request counts: it does not come on top of an earlier one.
  await post("fail", { next: 5 });
  await post("fail", { next: 1 });
  expect([await ask(), await ask()]).toEqual([503, 200]);
  await post("fail", { next: 5 });
  expect(await post("fail", { next: 0 })).toEqual({ status: 200, body: { next: 0 } });
  expect(await ask()).toBe(200);
});

test("what is no helper is named, and what is no POST of JSON is refused", async ({ baseUrl }) => {
  const known = "expected /_dev/fund, /_dev/deposit, /_dev/expire, /_dev/clock, /_dev/fail";
  for (const path of ["/_dev", "/_dev/", "/_dev/rollback", "/_dev/constructor", "/_dev?x"]) {
    const answered = await fetch(`${baseUrl}${path}`);
    expect([answered.status, await answered.json()], path).toEqual([404, { error: known }]);
  }
  const read = await fetch(`${baseUrl}/_dev/clock`);
  expect([read.status, read.headers.get("allow")]).toEqual([405, "POST"]);
  const broken = await fetch(`${baseUrl}/_dev/clock`, { method: "POST", body: "{" });
  expect([broken.status, await broken.json()]).toEqual([400, { error: "expected a JSON object" }]);
  // Beside the helpers stands the API, which wants a key.
  expect((await fetch(`${baseUrl}/_development`)).status).toBe(401);
});

/** Asks with headers that `fetch` does not let a program choose. */
function statusFor(baseUrl: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asking = request(`${baseUrl}/_dev/clock`, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asking.on("error", reject).end('{"seconds":60}');
  });
}

test.for([
  ["under a name of a stranger's", { host: "pay.example" }],
  ["from a page of another site", { "sec-fetch-site": "cross-site" }],
  ["through a proxy", { "x-forwarded-for": "203.0.113.7" }],
] as const)("a request %s is refused and changes nothing", async ([, headers], { world, baseUrl }) => {
  const slot = world.chain.slot();
  expect(await statusFor(baseUrl, headers)).toBe(403);
  expect(world.chain.slot()).toBe(slot);
  expect(await statusFor(baseUrl, { host: "localhost", "sec-fetch-site": "same-origin" })).toBe(200);
});

test("a handler of the API alone has none of the helpers", async ({ world }) => {
  const { service, clock } = world;
  const { fetch: ask } = createHttpHandler({ service, inspector: true, clock });
  const answered = await ask(new Request("http://127.0.0.1/_dev/clock", { method: "POST", body: "{}" }));
  expect(answered.status).toBe(401);
});
