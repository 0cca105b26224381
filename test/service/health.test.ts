/** What a service says of its own health, and how it ends at the end of a block. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { serviceFixture } from "../kit/service-fixture.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";

const NOTHING_WATCHED = { watched: 0, oldestMs: 0, lateMs: 0 };

let fixture: ServiceFixture;
beforeEach(async () => {
  fixture = await serviceFixture();
});
afterEach(() => fixture.close());

test("a service whose chain and storage answer is ok and names the newest finalized slot", async () => {
  expect(await fixture.service.health()).toEqual({
    status: "ok",
    storage: "ok",
    ledger: { slot: fixture.chain.slot() - 32, endpoint: "local" },
    witnesses: { needed: 1, answering: 1 },
    unprovable: 0,
    overdueMs: 0,
    deadLetters: 0,
    watches: {
      ...{ landing: NOTHING_WATCHED, strayLanding: NOTHING_WATCHED },
      ...{ unprovable: NOTHING_WATCHED, expired: NOTHING_WATCHED },
    },
    attention: 0,
  });
});

test("a silent chain makes it degraded, a silent storage down, and asking never fails", async () => {
  const silent = new Proxy(fixture.storage, {
    get: (storage, property, receiver) =>
      property === "nextDue"
        ? () => Promise.reject(new Error("disk gone"))
        : (Reflect.get(storage, property, receiver) as unknown),
  });
  expect(await fixture.another({ storage: silent }).health()).toMatchObject({
    status: "down",
    storage: "unreachable",
  });
  await fixture.ledger.close();
  expect(await fixture.service.health()).toMatchObject({ status: "degraded", storage: "ok", ledger: null });
});

test("work that nobody does makes it degraded", async () => {
  const caller = await fixture.caller();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  await fixture.service.stop();
  await fixture.send(caller, { from: alice, to: fixture.wallet("bob").address, amount: "1" });
  expect(await fixture.service.health()).toMatchObject({ status: "ok" });
  fixture.clock.advance(30_000);
  expect(await fixture.service.health()).toMatchObject({ status: "degraded", overdueMs: 30_000 });
});

test("at the end of an `await using` block it has stopped", async () => {
  const caller = await fixture.caller();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  await fixture.service.stop();
  let left: ServiceFixture["service"];
  {
    await using service = fixture.another();
    await service.start();
    left = service;
  }
  const { transactionId } = await fixture.send(caller, {
    from: alice,
    to: fixture.wallet("bob").address,
    amount: "1",
  });
  await left.settled();
  expect((await fixture.storage.load(transactionId))?.version).toBe(1);
});
