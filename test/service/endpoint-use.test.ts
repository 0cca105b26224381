/** The services on one database tell each other how their ledgers use the endpoints, while they run. */
import { describe, expect } from "vitest";
import type { ExchangeUse, Ledger } from "../../src/ledger/ledger.ts";
import { sharedDatabaseTests } from "../kit/shared-database-test.ts";

describe.each(sharedDatabaseTests)("two services on $name", ({ databaseTest }) => {
  const test = databaseTest.extend("two", async ({ world, handle }, { onCleanup }) => {
    const exchanges: ExchangeUse[] = [];
    const ledger: Ledger = { ...world.ledger, shareUse: (exchange) => void exchanges.push(exchange) };
    const first = world.another({ ledger });
    const second = world.another({ ledger, storage: await handle() });
    onCleanup(async () => {
      for (const service of [first, second]) await service.stop();
    });
    for (const service of [first, second]) await service.start();
    const [one, other] = exchanges;
    if (one === undefined || other === undefined) throw new Error("a service that has not shared its use");
    return { one, other, first };
  });

  test("each hears what the other has told, once, with a name of its own, and never what it told itself", async ({
    world,
    two: { one, other },
  }) => {
    expect(await one({ calls: { key: 40 }, rests: {} })).toEqual([]);
    expect(await other({ calls: { key: 2 }, rests: { key: 1_500 } })).toMatchObject([
      { calls: { key: 40 }, rests: {}, at: world.clock.now() },
    ]);
    const [told, ...more] = await one({ calls: {}, rests: {} });
    expect(more).toEqual([]);
    expect(told).toMatchObject({ calls: { key: 2 }, rests: { key: 1_500 } });
    const [again] = await other({ calls: {}, rests: {} });
    expect(again?.process).not.toBe(told?.process);
    expect(await one({ calls: {}, rests: {} })).toMatchObject([{ calls: {}, process: told?.process }]);
  });

  test("the counts of requests are no calls of endpoints", async ({ world, two }) => {
    await world.another().exchangeHits({ reads: { account: 7 } });
    expect(await two.one({ calls: {}, rests: {} })).toEqual([]);
  });

  test("a service that has stopped tells and asks nothing any more", async ({ two }) => {
    await two.first.stop();
    expect(await two.one({ calls: { key: 40 }, rests: {} })).toEqual([]);
    expect(await two.other({ calls: {}, rests: {} })).toEqual([]);
  });
});
