/** Limits per minute where several processes share a database: told to each other, so a burst is bounded and what follows is refused. */
import { describe, expect } from "vitest";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { silentLogger } from "../../src/runtime.ts";
import { range } from "../contracts/storage/samples.ts";
import { sharedDatabaseTests } from "../kit/shared-database-test.ts";
import { sampled } from "../kit/thorough.ts";

const LIMIT = 10;
const limits = { reads: { free: LIMIT, pro: LIMIT, enterprise: LIMIT }, failedAuthentications: 4 };

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function oneByOne<A>(count: number, act: () => Promise<A>): Promise<A[]> {
  const answers: A[] = [];
  while (answers.length < count) answers.push(await act());
  return answers;
}

/** Three processes; `statusAt` asks one of them, `second` lets them tell each other. */
const handlersTests = sharedDatabaseTests.map(({ name, databaseTest }) => ({
  name,
  test: databaseTest
    // `ended` resolves when no exchange is under way that has begun.
    .extend("exchanges", ({}) => ({ begun: 0, ended: Promise.resolve<unknown>(null) }))
    .extend("handlers", async ({ world, handle, exchanges }) => {
      const others = [await handle(), await handle()].map((storage) => world.another({ storage }));
      return [world.service, ...others].map((service) => {
        const exchangeHits: typeof service.exchangeHits = (counts) => {
          exchanges.begun += 1;
          const told = service.exchangeHits(counts);
          exchanges.ended = Promise.allSettled([exchanges.ended, told]);
          return told;
        };
        return createHttpHandler({
          service: { ...service, exchangeHits },
          clock: world.clock,
          limits,
          logger: silentLogger,
          clientAddress: ({ headers }) => headers.get("x-client"),
        });
      });
    })
    .extend("statusAt", async ({ world: { service }, handlers }) => {
      const { accountId } = await service.createAccount({ name: "a", tier: "free" });
      const issued = await service.issueKey({ accountId, environment: "test", scopes: ["tokens:read"] });
      const authorization = `Bearer ${issued.key}`;
      return async (index: number, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
        const request = new Request("http://pay.test/v1/tokens", { headers: { authorization, ...headers } });
        return (await handlers[index]?.fetch(request))?.status ?? 0;
      };
    })
    .extend("second", ({ world, exchanges }) => async () => {
      world.clock.advance(1_000);
      await turn();
      await exchanges.ended;
      await turn();
    }),
}));

const accepted = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;

describe.each(sampled(handlersTests, "shared limits"))("three handlers on $name", ({ test }) => {
  test("what one process has accepted leaves as much less room in the others, a second later", async ({
    statusAt,
    second,
  }) => {
    const first = await oneByOne(6, () => statusAt(0));
    expect(accepted(first)).toBe(6);
    await second();
    // A process that has taken nothing yet learns of it with its own first request.
    expect(await statusAt(1)).toBe(200);
    await second();
    await second();
    const rest = await oneByOne(6, () => statusAt(1));
    expect(accepted(rest)).toBe(3);
    await second();
    expect(await statusAt(1)).toBe(429);
  });

  test("a burst at all of them at once finds no more than the limit at each, and then all are full for its minute", async ({
    world,
    statusAt,
    second,
  }) => {
    const burst = await Promise.all(range(45).map((index) => statusAt(index % 3)));
    expect(accepted(burst)).toBe(3 * LIMIT);
    await second();
    await second();
    const later = await oneByOne(5, async () => {
      world.clock.advance(10_000);
      return Math.min(await statusAt(0), await statusAt(1), await statusAt(2));
    });
    expect(later).toEqual([429, 429, 429, 429, 429]);
    world.clock.advance(12_000);
    expect([await statusAt(0), await statusAt(1), await statusAt(2)]).toEqual([200, 200, 200]);
  });

  test("what was told once counts once, also for a process that comes back after half a minute", async ({
    world,
    statusAt,
    second,
  }) => {
    expect(accepted(await oneByOne(6, () => statusAt(0)))).toBe(6);
    await second();
    expect(await statusAt(1)).toBe(200);
    await second();
    await second();
    world.clock.advance(31_000);
    expect(await statusAt(1)).toBe(200);
    await second();
    await second();
    expect(accepted(await oneByOne(3, () => statusAt(1)))).toBe(2);
  });

  test("failed authentications of one address are counted together", async ({ statusAt, second }) => {
    const wrong = { authorization: "Bearer ps_test_wrong", "x-client": "203.0.113.7" };
    expect([await statusAt(0, wrong), await statusAt(0, wrong), await statusAt(1, wrong)]).toEqual([
      401, 401, 401,
    ]);
    await second();
    await second();
    expect(await statusAt(1, wrong)).toBe(401);
    expect(await statusAt(1, wrong)).toBe(429);
    expect(await statusAt(1, { ...wrong, "x-client": "203.0.113.8" })).toBe(401);
  });

  test("one exchange a second while requests come, and none without", async ({
    exchanges,
    statusAt,
    second,
  }) => {
    await oneByOne(4, () => statusAt(0));
    expect(exchanges.begun).toBe(0);
    await second();
    expect(exchanges.begun).toBe(1);
    await oneByOne(5, second);
    expect(exchanges.begun).toBe(1);
    await statusAt(0);
    await second();
    expect(exchanges.begun).toBe(2);
  });
});
