/** H13: secrets planted everywhere, and then looked for wherever something is kept, told or sent. */
// modules: webhooks
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LocalFetch } from "paystate/local";
import type { AnyTable } from "../../storage/table.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { SCOPES } from "../../src/payments/frame/accounts/caller.ts";
import { everythingIn, recorder } from "../core/recorder.ts";
import { issueLoopbackCertificate } from "../kit/loopback-certificate.ts";
import { answerWith, startHttpsReceiver } from "../kit/https-receiver.ts";
import { passTime } from "../kit/pass-time.ts";
import { serviceFixture } from "../kit/service-fixture.ts";

const MASTER = Uint8Array.from({ length: 32 }, (_, index) => (index * 29 + 101) % 256);
const WEBHOOK_SECRET = "whsec_Q2FuYXJ5Q2FuYXJ5Q2FuYXJ5Q2FuYXJ5";
const PLAIN_WEBHOOK_SECRET = "a canary that sings in plain words";
const PROVIDER_KEY = "canary9f3c2b7a1e8d4c6f";
const RPC_URL = `https://rpc.example/v2/${PROVIDER_KEY}?api-key=${PROVIDER_KEY}`;

/** Every spelling in which a secret could be found again. */
function spellings(secret: string | Uint8Array): Buffer[] {
  const bytes = Buffer.from(secret);
  const texts = [
    bytes.toString("hex"),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
  ];
  return [bytes, ...texts.map((text) => Buffer.from(text)), Buffer.from(bytes.toString("hex").toUpperCase())];
}

test("H13: no secret is in the database file, its WAL and index, logs, errors, answers or deliveries", async () => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-canaries-"));
  const certificate = await issueLoopbackCertificate();
  const receiver = await startHttpsReceiver({ certificate });
  const { logger, lines } = recorder();
  const answers: string[] = [];
  const outages = { node: false, webhook: false };

  const database = await sqliteStorage(join(folder, "payments.db"));
  // What fails underneath quotes what it was doing, as drivers and clients of nodes do.
  const quoting = `while using ${RPC_URL} with Bearer ${PROVIDER_KEY}, ${WEBHOOK_SECRET} and ${Buffer.from(MASTER).toString("hex")}`;
  const storage = new Proxy(database, {
    get(target, property, receiver_) {
      const value: unknown = Reflect.get(target, property, receiver_);
      if (property !== "find" || typeof value !== "function") return value;
      return (...args: readonly [{ readonly table: AnyTable }]): unknown =>
        outages.webhook && args[0].table.name === "webhooks"
          ? Promise.reject(new Error(quoting, { cause: new TypeError(quoting) }))
          : Reflect.apply(value, target, args);
    },
  });
  const fixture = await serviceFixture({
    storage: database,
    masterSecrets: [{ version: 1, secret: MASTER }],
  });
  await fixture.service.stop();
  const throughProvider: LocalFetch = async (input, init) => {
    if (outages.node) throw new TypeError(`fetch failed ${quoting}`, { cause: new Error(quoting) });
    return fixture.chain.fetch(input, init);
  };
  const ledger = fixture.ledgerOf([{ url: RPC_URL, fetch: throughProvider }]);
  const service = fixture.another({
    storage,
    ledger,
    logger,
    webhooks: { ca: certificate.ca, allowAddress: (ip) => ip === "127.0.0.1" },
  });
  await service.start();
  const handler = createHttpHandler({ service, clock: fixture.clock, logger });
  const { accountId } = await service.createAccount({ name: "canary", tier: "enterprise" });
  const { key } = await service.issueKey({ accountId, environment: "test" });
  const [, , , keySecret = ""] = key.split("_");

  const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const request = new Request(`https://pay.example${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answering = handler.fetch(request);
    let done = false;
    void answering.finally(() => (done = true));
    // The ledger's pauses between two tries pass on the virtual clock.
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve));
      if (outages.node) fixture.clock.advance(100);
    }
    const answer = await answering;
    const text = await answer.text();
    answers.push(JSON.stringify([...answer.headers]), text);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const pass = (ms: number): Promise<void> =>
    passTime(
      { clock: fixture.clock, engine: service, storage: database, workflows: service.workflows },
      fixture.clock.now() + ms,
    );

  for (const secret of [WEBHOOK_SECRET, PLAIN_WEBHOOK_SECRET]) {
    await ask("POST", "/v1/webhooks", { url: receiver.url, events: ["transaction.pending"], secret });
  }
  const caller = { accountId, tier: "enterprise", scopes: SCOPES } as const;
  const from = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const to = fixture.wallet("bob").address;
  const first = await fixture.prepareSend(caller, { from, to, amount: "1" });
  const created = await ask("POST", "/v1/transactions", first.body);
  expect(created["status"]).toBe("pending");
  receiver.answer(answerWith(500, "no"));
  await service.settled();

  // Everything fails at once, and is talked about.
  outages.webhook = true;
  await pass(2 * 60_000);
  expect(await ask("GET", "/v1/webhooks")).toMatchObject({ error: { code: "INTERNAL_ERROR" } });
  outages.node = true;
  await ask("GET", `/v1/balances/${to}`);
  await ask("POST", "/v1/quotes", { inputAsset: "USDC", outputAsset: "USDC", amount: "1" });
  outages.node = false;
  // Polls that began during the outage still wait for their next try.
  for (let waited = 0; waited < 200; waited++) {
    await new Promise((resolve) => setImmediate(resolve));
    fixture.clock.advance(100);
  }
  await ask("POST", "/v1/webhooks", { url: RPC_URL.replace("https:", "http:"), events: [] });
  await ask("GET", "/v1/webhooks");
  await ask("POST", "/v1/webhooks", { url: receiver.url, events: [], secret: 7 });
  await ask("GET", `/v1/transactions/${String(created["transactionId"])}`);
  outages.webhook = false;
  await pass(10 * 60_000);
  expect(receiver.requests.length).toBeGreaterThan(2);
  // The test would find nothing where nothing was said.
  expect(lines.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      "a task failed and will be tried again",
      "the ledger could not be asked",
    ]) as unknown,
  );

  const secrets: Readonly<Record<string, string | Uint8Array>> = {
    "the webhook's secret": WEBHOOK_SECRET,
    "the key inside it": Buffer.from(WEBHOOK_SECRET.slice("whsec_".length), "base64"),
    "the plain webhook secret": PLAIN_WEBHOOK_SECRET,
    "the API key": keySecret,
    "the master secret": MASTER,
    "the provider's key": PROVIDER_KEY,
  };
  const files = (): [string, Buffer][] =>
    readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]);
  const live = files();
  expect(live.map(([file]) => file).toSorted()).toEqual([
    "payments.db",
    "payments.db-shm",
    "payments.db-wal",
  ]);
  await service.stop();
  await ledger.close();
  await fixture.close();
  await database.close();
  await receiver.close();
  const places: [string, Buffer][] = [
    ...live,
    ...files().map(([file, bytes]): [string, Buffer] => [`${file}, closed`, bytes]),
    ["the log", Buffer.from(everythingIn(lines))],
    ["the answers", Buffer.from(answers.join("\n"))],
    [
      "the deliveries",
      Buffer.from(JSON.stringify(receiver.requests.map(({ headers, body }) => [headers, body.toString()]))),
    ],
  ];
  rmSync(folder, { recursive: true });
  const found = places.flatMap(([place, bytes]) =>
    Object.entries(secrets)
      // The one address that is said back to whoever sent it, in the refusal of its URL.
      .filter(([secret]) => !(place === "the answers" && secret === "the provider's key"))
      .filter(([, secret]) => spellings(secret).some((spelling) => bytes.includes(spelling)))
      .map(([secret]) => `${secret} is in ${place}`),
  );
  expect(found).toEqual([]);
});
