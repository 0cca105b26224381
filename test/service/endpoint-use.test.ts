/** The services on one database tell each other how their ledgers use the endpoints, while they run. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ExchangeUse, Ledger } from "../../src/ledger/ledger.ts";
import type { PaymentDatabase } from "../kit/adapters.ts";
import { serviceFixture, type ServiceFixture } from "../kit/service-fixture.ts";
import { sharedDatabases } from "../kit/shared-databases.ts";

describe.each(sharedDatabases)("two services on $name", ({ make }) => {
  let database: PaymentDatabase;
  let world: ServiceFixture;
  let exchanges: ExchangeUse[];
  let over: (() => Promise<void>)[];

  beforeEach(async () => {
    database = await make();
    exchanges = [];
    over = [];
    const storages = [await database.open(), await database.open()] as const;
    world = await serviceFixture({ storage: storages[0] });
    for (const storage of storages) {
      const ledger: Ledger = { ...world.ledger, shareUse: (exchange) => void exchanges.push(exchange) };
      const service = world.another({ storage, ledger });
      await service.start();
      over.push(() => service.stop());
    }
    over.push(...storages.map((storage) => () => storage.close()));
  });
  afterEach(async () => {
    for (const end of over.slice(0, 2)) await end();
    await world.close();
    for (const end of over.slice(2)) await end();
    await database.destroy();
  });

  test("each hears what the other has told, once, with a name of its own, and never what it told itself", async () => {
    const [one, other] = exchanges;
    if (one === undefined || other === undefined) throw new Error("a service that has not shared its use");
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

  test("the counts of requests are no calls of endpoints", async () => {
    await world.another().exchangeHits({ reads: { account: 7 } });
    expect(await exchanges[0]?.({ calls: {}, rests: {} })).toEqual([]);
  });

  test("a service that has stopped tells and asks nothing any more", async () => {
    await over[0]?.();
    expect(await exchanges[0]?.({ calls: { key: 40 }, rests: {} })).toEqual([]);
    expect(await exchanges[1]?.({ calls: {}, rests: {} })).toEqual([]);
  });
});
