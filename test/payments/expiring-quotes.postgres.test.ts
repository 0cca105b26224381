/** M37: quotes expire by the clock of the storage, whatever the clock of a process says. */
import { describe, expect, test } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { adapters } from "../kit/adapters.ts";
import { type PostgresDatabase, postgresDatabase } from "../kit/postgres-database.ts";
import { units } from "../kit/money.ts";
import { serviceFixture, type ServiceFixture } from "../kit/service-fixture.ts";
import { postgresStorage } from "../kit/storages.ts";
import { drawn } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { expectRefusal } from "./wallet/wallet-world.ts";

const SOL = 1_000_000_000n;
const FIVE_MINUTES = 300_000;
/** A server on a busy machine. */
const LONG = { timeout: 120_000 };

/** A send that is ready to be posted, and how its quote is read and posted. */
async function prepared(world: ServiceFixture, service: PaymentService = world.service) {
  const caller = await world.caller();
  const alice = world.wallet(`alice ${caller.accountId}`, { lamports: SOL, usdc: units("20", 6) });
  const bob = world.wallet(`bob ${caller.accountId}`, { lamports: SOL });
  world.chain.advance(35);
  const { quote, body } = await world.prepareSend(caller, { from: alice, to: bob.address, amount: "1" });
  return {
    quote,
    shown: () => service.quote(caller, quote.quoteId),
    post: () => service.createTransaction(caller, { ...body, recipients: [...body.recipients] }),
  };
}

describe.each(drawn(adapters, "expiring quotes"))("on $name", ({ make }) => {
  test("M37: a quote that expires while its transaction is looked at is not taken", async () => {
    const underTest = await make();
    const storage = await underTest.open();
    const world = await serviceFixture({ storage });
    const { quote, shown, post } = await prepared(world);
    world.clock.advance(29_500);
    let isSlow = true;
    world.chain.faults.add(({ method }) => {
      if (method === "simulateTransaction" && isSlow) {
        isSlow = false;
        world.clock.advance(600);
      }
      return undefined;
    });
    await expectRefusal(post(), "INVALID_QUOTE", { reason: "expired", quoteId: quote.quoteId });
    expect(isSlow).toBe(false);
    expect(await shown()).toMatchObject({ status: "expired", transactionId: null });
    await world.close();
    await storage.close();
    await underTest.destroy();
  });
});

describe.skipIf(!HAS_POSTGRES)("on a database with a clock of its own", () => {
  async function opened(): Promise<{
    readonly database: PostgresDatabase;
    readonly storage: PaymentStorage;
    readonly world: ServiceFixture;
    readonly now: number;
    readonly service: (aheadMs: number) => PaymentService;
    readonly close: () => Promise<void>;
  }> {
    const database = await postgresDatabase();
    const storage = await postgresStorage(() => database.open({ clock: "database" }));
    const world = await serviceFixture({ storage });
    const now = (await storage.time?.(0)) ?? 0;
    return {
      database,
      storage,
      world,
      now,
      service: (aheadMs) => world.another({ clock: { now: () => now + aheadMs, sleep: world.clock.sleep } }),
      async close() {
        await world.close();
        await storage.close();
        await database.destroy();
      },
    };
  }

  const expire = async (storage: PaymentStorage, quoteId: string, expiresAt: number): Promise<void> => {
    const [result] = await storage.commit([
      { writes: [{ table: "quotes", id: quoteId, set: { expiresAt } }] },
    ]);
    expect(result).toEqual({ ok: true });
  };

  test.each([
    ["five minutes behind", -FIVE_MINUTES],
    ["five minutes ahead", FIVE_MINUTES],
  ])("M37: a process whose clock is %s takes live quotes and no expired ones", LONG, async (_, aheadMs) => {
    const { storage, world, now, service, close } = await opened();
    const process = service(aheadMs);
    const live = await prepared(world, process);
    expect(Math.abs(Date.parse(live.quote.createdAt) - now)).toBeLessThan(60_000);
    expect(Date.parse(live.quote.expiresAt) - Date.parse(live.quote.createdAt)).toBe(30_000);
    const over = await prepared(world, process);
    // Long enough for a slow machine, and shorter than the difference of the clocks.
    await expire(storage, live.quote.quoteId, now + 200_000);
    await expire(storage, over.quote.quoteId, now - 1);
    expect(await live.shown()).toMatchObject({ status: "open" });
    expect(await over.shown()).toMatchObject({ status: "expired" });
    expect((await live.post()).body).toMatchObject({ status: "pending" });
    await expectRefusal(over.post(), "INVALID_QUOTE", { reason: "expired" });
    expect((await storage.quote(over.quote.quoteId))?.usedBy).toBeNull();
    await close();
  });

  test("M37: the commit itself is judged by the clock of the database", LONG, async () => {
    const { storage, world, now, close } = await opened();
    const { quote } = await prepared(world);
    const { quoteId: id } = quote;
    const use = (given: number) => ({
      writes: [
        {
          table: "quotes" as const,
          id,
          set: { usedBy: "tx_1" },
          unexpired: { field: "expiresAt" as const, now: given },
        },
      ],
    });
    await expire(storage, id, now - 1);
    expect(await storage.commit([use(now - FIVE_MINUTES)])).toEqual([
      { ok: false, conflict: "write", index: 0 },
    ]);
    await expire(storage, id, now + 200_000);
    expect(await storage.commit([use(now + FIVE_MINUTES)])).toEqual([{ ok: true }]);
    await close();
  });
});
