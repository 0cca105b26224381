/** What a service says of its own health, and how it ends at the end of a block. */
import type { TaskListQuery } from "paystate/storage";
import { expect } from "vitest";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { paymentTables } from "../../src/payments/payment-storage.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";
import { serviceTest as test } from "../kit/service-test.ts";

const NOTHING_WATCHED = { watched: 0, oldestMs: 0, lateMs: 0 };

test("a service whose chain and storage answer is ok and names the newest finalized slot", async ({
  world,
}) => {
  expect(await world.service.health()).toEqual({
    status: "ok",
    storage: "ok",
    chain: { state: "compared", message: null },
    clock: { state: "trusted", message: null },
    ledger: { slot: world.chain.slot() - 32, endpoint: "local" },
    witnesses: { needed: 1, answering: 1 },
    takesVersion1: true,
    unprovable: 0,
    overdueMs: 0,
    deadLetters: 0,
    failingTasks: 0,
    unknownInstances: 0,
    watches: {
      landing: NOTHING_WATCHED,
      strayLanding: NOTHING_WATCHED,
      unprovable: NOTHING_WATCHED,
      expired: NOTHING_WATCHED,
    },
    disputes: 0,
    attention: 0,
    backlog: [],
    retention: {
      bytes: expect.any(Number) as number,
      oldestTransactionMs: null,
      lastPassAt: null,
      removed: 0,
      error: null,
      sweep: null,
      keptForGood: ["transactions", "private", "notices", "quotes"],
    },
  });
});

test("a service that has not started tells its health and what needs a person, on a new database too", async ({
  world,
}) => {
  const storage = await sqliteStorage(":memory:");
  const service = world.another({ storage });
  expect(await service.health()).toMatchObject({ storage: "ok", unprovable: 0, attention: 0 });
  expect(await service.operator.attention()).toEqual([]);
  await service.stop();
  await storage.close();
});

test("a silent chain makes it degraded, a silent storage down, and asking never fails", async ({ world }) => {
  const silent = new Proxy(world.storage, {
    get: (storage, property, receiver) =>
      property === "nextDue"
        ? () => Promise.reject(new Error("disk gone"))
        : (Reflect.get(storage, property, receiver) as unknown),
  });
  expect(await world.another({ storage: silent }).health()).toMatchObject({
    status: "down",
    storage: "unavailable",
  });
  await world.ledger.close();
  expect(await world.service.health()).toMatchObject({ status: "degraded", storage: "ok", ledger: null });
});

test("R33: watches that were not looked at for too long make it degraded", async ({ world }) => {
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1_000_000n });
  await world.send(await world.caller(), { from: alice, to: world.wallet("bob").address, amount: "1" });
  world.chain.faults.add(({ method }) =>
    method === "getSignatureStatuses" ? { kind: "refuse", status: 403 } : undefined,
  );
  await world.pass(30_000);
  const { status, watches, ...others } = await world.service.health();
  expect(watches["landing"]?.lateMs).toBeGreaterThan(20_000);
  expect(others).toMatchObject({ storage: "ok", overdueMs: 0, disputes: 0, unprovable: 0, deadLetters: 0 });
  expect(status).toBe("degraded");
});

test("D37: a commit that the disk refuses makes it down until a write succeeds again, and an idle one writes nothing", async ({
  world,
}) => {
  let code: "disk_full" | "unwritable" | "busy" | null = null;
  let commits = 0;
  const failing = new Proxy(world.storage, {
    get: (storage, property, receiver) => {
      if (property !== "commit") return Reflect.get(storage, property, receiver) as unknown;
      return (items: Parameters<typeof storage.commit>[0]) => {
        commits += 1;
        if (code === null) return storage.commit(items);
        const error = new StorageUnusable(code, "the disk takes no more");
        return Promise.resolve(items.map(() => ({ ok: false, conflict: "failed", error }) as const));
      };
    },
  });
  const service = world.another({ storage: failing });
  const account = (): Promise<unknown> => service.createAccount({ name: "ada", tier: "pro" });
  expect(await service.health()).toMatchObject({ status: "ok", storage: "ok" });
  expect(commits).toBe(0);
  code = "busy";
  await expect(account()).rejects.toThrow(StorageUnusable);
  code = null;
  expect(await service.health(), "a lock that is gone").toMatchObject({ status: "ok", storage: "ok" });
  const looked = commits;
  expect(await service.health()).toMatchObject({ status: "ok", storage: "ok" });
  expect(commits).toBe(looked);
  for (const each of ["disk_full", "unwritable", "busy"] as const) {
    code = each;
    await expect(account()).rejects.toThrow(StorageUnusable);
    expect(await service.health()).toMatchObject({ status: "down", storage: each });
    code = null;
    expect(await service.health()).toMatchObject({ status: "ok", storage: "ok" });
  }
  const { length } = await world.storage.find({ table: paymentTables.facts });
  code = "disk_full";
  await expect(account()).rejects.toThrow(StorageUnusable);
  code = null;
  await service.health();
  expect(await world.storage.find({ table: paymentTables.facts }), "the probe leaves nothing").toHaveLength(
    length,
  );
  await account();
});

test("D31: a server that stays read-only for five minutes is named as a replica", async ({ world }) => {
  let isReplica = true;
  const following = new Proxy(world.storage, {
    get: (storage, property, receiver) => {
      if (property !== "commit" || !isReplica) return Reflect.get(storage, property, receiver) as unknown;
      const error = new StorageUnusable("replica", "this server takes no writes");
      return (items: readonly unknown[]) => items.map(() => ({ ok: false, conflict: "failed", error }));
    },
  });
  const service = world.another({ storage: following });
  await expect(service.createAccount({ name: "ada", tier: "pro" })).rejects.toThrow(StorageUnusable);
  for (const [ms, storage] of [
    [0, "unavailable"],
    [299_999, "unavailable"],
    [1, "replica"],
  ] as const) {
    world.clock.advance(ms);
    expect(await service.health()).toMatchObject({ status: "down", storage });
  }
  isReplica = false;
  expect(await service.health()).toMatchObject({ storage: "ok" });
});

test("a storage that hangs is asked one question of a kind, however often it is asked for its health", async ({
  world,
}) => {
  let asked = 0;
  const hanging = new Proxy(world.storage, {
    get: (storage, property, receiver) => {
      if (property === "nextDue") return () => Promise.reject(new Error("disk gone"));
      if (property !== "tasks") return Reflect.get(storage, property, receiver) as unknown;
      return ({ order }: TaskListQuery) => {
        if (order === "dead") asked += 1;
        return new Promise(() => {});
      };
    },
  });
  const service = world.another({ storage: hanging });
  const counts = [];
  for (let time = 0; time < 10; time += 1) {
    const health = service.health();
    await world.pass(3_000);
    expect((await health).status).toBe("down");
    counts.push(asked);
  }
  expect(asked).toBeGreaterThan(0);
  expect(new Set(counts).size).toBe(1);
});

test("work that nobody does makes it degraded", async ({ world }) => {
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  await world.service.stop();
  await world.send(caller, { from: alice, to: world.wallet("bob").address, amount: "1" });
  expect(await world.service.health()).toMatchObject({ status: "ok" });
  world.clock.advance(30_000);
  expect(await world.service.health()).toMatchObject({ status: "degraded", overdueMs: 30_000 });
});

test("at the end of an `await using` block it has stopped", async ({ world }) => {
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  await world.service.stop();
  let left: ServiceFixture["service"];
  {
    await using service = world.another();
    await service.start();
    left = service;
  }
  const { transactionId } = await world.send(caller, {
    from: alice,
    to: world.wallet("bob").address,
    amount: "1",
  });
  await left.settled();
  expect((await world.storage.load(transactionId))?.version).toBe(1);
});
