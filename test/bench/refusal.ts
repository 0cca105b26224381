/** What a refusal costs beside the accepted request of the same length: processor time of the handler, all in this process. */
import { createHttpHandler, type HttpHandler } from "../../src/http/create-http-handler.ts";
import { SCOPES } from "../../src/payments/accounts/caller.ts";
import { systemClock } from "../../src/runtime.ts";
import { type HttpsReceiver, startHttpsReceiver } from "../kit/https-receiver.ts";
import { type ServiceFixture, serviceFixture } from "../kit/service-fixture.ts";
import { median, type Report } from "./figures.ts";

const ROUNDS = 7;
const REQUESTS = 40;
const PEOPLE = 8;
const MANY = 1_000_000;

/** Requests of which only a few bytes differ from the accepted ones. */
interface Twin {
  readonly name: string;
  readonly status: number;
  /** Made before they are measured. */
  requests(): Promise<readonly Request[]>;
}

/** The requests of one endpoint. */
interface Endpoint {
  readonly name: string;
  readonly accepted: Twin;
  readonly refused: readonly Twin[];
}

/** What requests are made for. */
interface Surroundings {
  readonly world: ServiceFixture;
  readonly accountId: string;
  readonly key: string;
  readonly receiver: HttpsReceiver;
}

/** A request in parts. */
interface Parts {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly key: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function requestOf({ method, path, key, body, headers }: Parts): Request {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  return new Request(`http://bench.example${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...type, ...headers },
    ...(body !== undefined && { body }),
  });
}

/** The same request again and again. */
const same = (name: string, status: number, parts: Parts): Twin => ({
  name,
  status,
  requests: async () => Array.from({ length: REQUESTS }, () => requestOf(parts)),
});

/** Microseconds of processor time for each request. */
async function costOf({ fetch }: HttpHandler, { name, status, requests }: Twin): Promise<number> {
  const prepared = await requests();
  const used = process.cpuUsage();
  for (const request of prepared) {
    const answer = await fetch(request);
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`${name}: ${answer.status}, ${text}`);
  }
  const { user, system } = process.cpuUsage(used);
  return (user + system) / prepared.length;
}

const madeUp = (key: string): string => `${key.slice(0, -4)}zzzz`;

const PERSON = /"([1-9A-HJ-NP-Za-km-z]{31,})","amount":"1.5"\}\]/;

/** A payroll of some people, as a quote. */
function quotes({ world, key }: Surroundings): Endpoint {
  const people = Array.from({ length: PEOPLE }, (_, n) => world.wallet(`person ${n}`, { usdc: 1n }).address);
  const sender = world.wallet("sender", { lamports: 1_000_000_000n, usdc: 1_000_000_000n }).address;
  const recipients = people.map((address) => ({ address, amount: "1.5" }));
  const amount = String(1.5 * people.length);
  const asked = { inputAsset: "USDC", outputAsset: "USDC", amount, sender, mode: "wallet", recipients };
  const body = JSON.stringify(asked);
  const post = (name: string, status: number, sent: string, more: Partial<Parts> = {}): Twin =>
    same(name, status, { method: "POST", path: "/v1/quotes", key, body: sent, ...more });
  const last = body.lastIndexOf("1.5");
  const changed = (from: string, to: string): string =>
    body.replace(from, to.padEnd(from.length).slice(0, from.length));
  return {
    name: `POST /v1/quotes, ${PEOPLE} people`,
    accepted: post("accepted", 201, body),
    refused: [
      post("no JSON at its end", 400, `${body.slice(0, -1)}]`),
      post("brackets alone", 400, "[".repeat(body.length)),
      post("a field with another name", 400, changed('"mode"', '"made"')),
      post("a field twice", 400, changed('"mode":"wallet"', '"sender":"own"')),
      post("the last amount a word", 400, `${body.slice(0, last)}one${body.slice(last + 3)}`),
      post(
        "the last address no base58",
        400,
        body.replace(PERSON, (found) => found.replace(/[1-9A-HJ-NP-Za-km-z]/, "0")),
      ),
      post("another type of content", 415, body, { headers: { "content-type": "application/xml!" } }),
      post("a key that somebody made up", 401, body, { key: madeUp(key) }),
      post("a key of before that is unknown", 401, body, { key: `ps_test_${"0".repeat(key.length - 8)}` }),
      post("an Idempotency-Key with a space", 400, body, { headers: { "idempotency-key": "a b" } }),
    ],
  };
}

/** Wallet sends: each accepted one has a quote of its own, and is simulated and stored. */
function sends({ world, accountId, key }: Surroundings): Endpoint {
  const caller = { accountId, tier: "enterprise", scopes: SCOPES } as const;
  const from = world.wallet("payer", { lamports: 1_000_000_000n, usdc: 1_000_000_000n });
  const to = world.wallet("payee", { usdc: 1n }).address;
  const prepared = async (): Promise<string> =>
    JSON.stringify((await world.prepareSend(caller, { from, to, amount: "0.01" })).body);
  const post = (name: string, status: number, change: (body: string) => string): Twin => ({
    name,
    status,
    async requests() {
      await world.finalize();
      const bodies: string[] = [];
      for (let n = 0; n < REQUESTS; n++) bodies.push(change(await prepared()));
      return bodies.map((body) => requestOf({ method: "POST", path: "/v1/transactions", key, body }));
    },
  });
  // The signature stands at the beginning of the bytes, the message behind it.
  const reversed = (body: string, at: number): string =>
    body.replace(/(?<="signedTransaction":")[^"]+/, (signed) => {
      const bytes = Buffer.from(signed, "base64");
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      return bytes.toString("base64");
    });
  return {
    name: "POST /v1/transactions, a send",
    accepted: post("accepted", 201, (body) => body),
    refused: [
      post("a quote that is not there", 422, (body) => body.replace(/"quoteId":"..../, '"quoteId":"zzzz')),
      post("a signature with another bit", 400, (body) => reversed(body, 10)),
      post("a message with another bit at its end", 400, (body) =>
        reversed(
          body,
          Buffer.from(/"signedTransaction":"([^"]+)/.exec(body)?.[1] ?? "", "base64").length - 3,
        ),
      ),
      post("no base64", 400, (body) => body.replace(/(?<="signedTransaction":")..../, "****")),
      post("another amount than quoted", 422, (body) => body.replace('"0.01"', '"0.02"')),
    ],
  };
}

/** A page of transactions, and one of them. */
async function lists({ world, accountId, key }: Surroundings): Promise<readonly Endpoint[]> {
  const from = world.wallet("lister", { lamports: 1_000_000_000n, usdc: 1_000_000_000n });
  const to = world.wallet("listed", { usdc: 1n }).address;
  const caller = { accountId, tier: "enterprise", scopes: SCOPES } as const;
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) {
    const { transactionId } = await world.send(caller, { from, to, amount: "0.01" });
    ids.push(transactionId);
  }
  await world.finalize();
  const [id = ""] = ids;
  const { transactionId: foreign } = await world.send(await world.caller(), { from, to, amount: "0.01" });
  const get = (name: string, status: number, path: string, own = key): Twin =>
    same(name, status, { method: "GET", path: `/v1/transactions${path}`, key: own });
  return [
    {
      name: "GET /v1/transactions, 20 of them",
      accepted: get("accepted", 200, "?limit=20"),
      refused: [
        get("a limit of nothing", 400, "?limit=00"),
        get("a cursor that somebody made up", 400, `?cursor=${"A".repeat(60)}`),
        get("a parameter that does not exist", 400, "?limits=2"),
        get("a key that somebody made up", 401, "?limit=20", madeUp(key)),
      ],
    },
    {
      name: "GET /v1/transactions/{transactionId}",
      accepted: get("accepted", 200, `/${id}`),
      refused: [
        get("an id that is not there", 404, `/${id.slice(0, -4)}zzzz`),
        get("the id of another account's", 404, `/${foreign}`),
        get("an id with odd characters", 404, `/${id.slice(0, -3)}%00`),
        get("a key that somebody made up", 401, `/${id}`, madeUp(key)),
      ],
    },
  ];
}

/** A webhook whose events are changed: another URL is asked for its answer, and counted as a registration. */
async function webhooks({ world, accountId, key, receiver }: Surroundings): Promise<Endpoint> {
  const caller = { accountId, tier: "enterprise", scopes: SCOPES } as const;
  const { url } = receiver;
  const events = ["transaction.completed"] as const;
  const { body } = await world.service.registerWebhook(caller, { url, events: [...events] });
  const { webhookId } = body;
  const put = (name: string, status: number, change: object, id = webhookId): Twin =>
    same(name, status, {
      method: "PUT",
      path: `/v1/webhooks/${id}`,
      key,
      body: JSON.stringify(change),
    });
  return {
    name: "PUT /v1/webhooks/{webhookId}",
    accepted: put("accepted", 200, { events }),
    refused: [
      put("an event that does not exist", 400, { events: ["transaction.concluded"] }),
      put("a field that does not exist", 400, { event: events }),
      put("a webhook that is not there", 404, { events }, `${webhookId.slice(0, -4)}zzzz`),
    ],
  };
}

/** Accepted requests and their twins in turns, so that what else the machine does meets all alike. */
async function measure(
  handler: HttpHandler,
  { name, accepted, refused }: Endpoint,
  report: Report,
): Promise<void> {
  const twins = [accepted, ...refused];
  const costs = twins.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, twin] of twins.entries()) {
      const cost = await costOf(handler, twin);
      // The first round warms up.
      if (round > 0) costs[index]?.push(cost);
    }
  }
  const [own = 1, ...others] = costs.map(median);
  report({ name: `${name}: accepted`, "µs of CPU": Math.round(own) });
  for (const [index, cost] of others.entries()) {
    const twin = refused[index]?.name ?? "";
    report({ name: twin, "µs of CPU": Math.round(cost), "of the accepted": cost / own });
  }
}

/** Measures the endpoints that take the most, or are asked most often. */
export async function benchRefusal(report: Report): Promise<void> {
  const receiver = await startHttpsReceiver();
  const webhookOptions = { allowAddress: (ip: string) => ip === "127.0.0.1", ca: receiver.ca };
  const world = await serviceFixture({ webhooks: webhookOptions });
  const { service } = world;
  const perTier = { free: MANY, pro: MANY, enterprise: MANY } as const;
  const limits = { reads: perTier, quotes: perTier, creates: perTier, failedAuthentications: MANY };
  try {
    const handler = createHttpHandler({ service, clock: systemClock, limits });
    const { accountId } = await service.createAccount({ name: "bench", tier: "enterprise" });
    const { key } = await service.issueKey({ accountId, environment: "test" });
    const around = { world, accountId, key, receiver };
    await measure(handler, quotes(around), report);
    await measure(handler, sends(around), report);
    for (const endpoint of await lists(around)) await measure(handler, endpoint, report);
    await measure(handler, await webhooks(around), report);
  } finally {
    await world.close();
    await receiver.close();
  }
}
