/** What a refusal costs beside the accepted request of the same length: processor time of the handler, all in this process. */
import { createHttpHandler, type HttpHandler } from "../../src/http/create-http-handler.ts";
import { systemClock } from "../../src/runtime.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { median, type Report } from "./figures.ts";

const ROUNDS = 7;
const REQUESTS = 40;
const PEOPLE = 8;
const MANY = 1_000_000;

/** A request of which only a few bytes differ from the accepted one. */
interface Twin {
  readonly name: string;
  readonly status: number;
  request(): Request;
}

/** Microseconds of processor time for each request. */
async function costOf({ fetch }: HttpHandler, { name, status, request }: Twin): Promise<number> {
  const used = process.cpuUsage();
  for (let n = 0; n < REQUESTS; n++) {
    const answer = await fetch(request());
    if (answer.status !== status) throw new Error(`${name}: ${answer.status}, ${await answer.text()}`);
    await answer.text();
  }
  const { user, system } = process.cpuUsage(used);
  return (user + system) / REQUESTS;
}

/** A payroll of some people, as a quote, in both modes. */
function bodyFor(sender: string, people: readonly string[]): string {
  const recipients = people.map((address) => ({ address, amount: "1.5" }));
  const amount = String(1.5 * people.length);
  return JSON.stringify({
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount,
    sender,
    mode: "wallet",
    recipients,
  });
}

function twinsOf(key: string, body: string): readonly Twin[] {
  const url = "http://bench.example/v1/quotes";
  const post = (name: string, status: number, sent: string, headers: Record<string, string> = {}): Twin => ({
    name,
    status,
    request: () =>
      new Request(url, {
        method: "POST",
        body: sent,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      }),
  });
  const last = body.lastIndexOf("1.5");
  const changed = (from: string, to: string): string =>
    body.replace(from, to.padEnd(from.length).slice(0, from.length));
  return [
    post("accepted", 201, body),
    post("no JSON at its end", 400, `${body.slice(0, -1)}]`),
    post("brackets alone", 400, "[".repeat(body.length)),
    post("a field with another name", 400, changed('"mode"', '"made"')),
    post("a field twice", 400, changed('"mode":"wallet"', '"sender":"own"')),
    post("the last amount a word", 400, `${body.slice(0, last)}one${body.slice(last + 3)}`),
    post(
      "the last address no base58",
      400,
      body.replace(/"([1-9A-HJ-NP-Za-km-z]{31,})","amount":"1.5"\}\]/, (found) =>
        found.replace(/[1-9A-HJ-NP-Za-km-z]/, "0"),
      ),
    ),
    post("another type of content", 415, body, { "content-type": "application/xml!" }),
    post("a key that somebody made up", 401, body, { authorization: `Bearer ${key.slice(0, -4)}zzzz` }),
    post("a key of before that is unknown", 401, body, {
      authorization: `Bearer ps_test_${"0".repeat(key.length - 8)}`,
    }),
    post("an Idempotency-Key with a space", 400, body, { "idempotency-key": "a b" }),
  ];
}

/** The accepted request and its twins in turns, so that what else the machine does meets all alike. */
export async function benchRefusal(report: Report): Promise<void> {
  const world = await serviceFixture();
  const { service } = world;
  const perTier = { free: MANY, pro: MANY, enterprise: MANY } as const;
  const limits = { reads: perTier, quotes: perTier, failedAuthentications: 1_000_000 };
  try {
    const handler = createHttpHandler({ service, clock: systemClock, limits });
    const { accountId } = await service.createAccount({ name: "bench", tier: "enterprise" });
    const { key } = await service.issueKey({ accountId, environment: "test" });
    const people = Array.from(
      { length: PEOPLE },
      (_, n) => world.wallet(`person ${n}`, { usdc: 1n }).address,
    );
    const { address } = world.wallet("sender", { lamports: 1_000_000_000n, usdc: 1_000_000_000n });
    const twins = twinsOf(key, bodyFor(address, people));
    const costs = twins.map((): number[] => []);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, twin] of twins.entries()) {
        const cost = await costOf(handler, twin);
        // The first round warms up.
        if (round > 0) costs[index]?.push(cost);
      }
    }
    const [accepted = 1, ...refused] = costs.map(median);
    report({ name: `POST /v1/quotes, ${PEOPLE} people: accepted`, "µs of CPU": Math.round(accepted) });
    for (const [index, cost] of refused.entries()) {
      const { name = "" } = twins[index + 1] ?? {};
      report({ name, "µs of CPU": Math.round(cost), "of the accepted": cost / accepted });
    }
  } finally {
    await world.close();
  }
}
