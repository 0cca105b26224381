/** Shards of watches on PostgreSQL: three processes share them fairly, and one that comes or goes has or leaves its part within seconds. */
import { describe, expect } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { put, range, startOf, watchOf } from "../contracts/storage/samples.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { postgresStorage } from "../kit/storages.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const SHARDS = 16;
const LEASE_MS = 15_000;

/** `pass` lets so many seconds pass, in which each holder claims once a second, all at the same moment, as engines do. */
const test = postgresTest
  .extend("storages", async ({ database }, { onCleanup }) => {
    const storages = new Map<string, PaymentStorage>();
    onCleanup(async () => {
      for (const storage of storages.values()) await storage.close();
    });
    for (const holder of ["a", "b", "c"]) storages.set(holder, await postgresStorage(database.open));
    const [first] = storages.values();
    if (first === undefined) throw new Error("three storages");
    await put(first, {
      starts: [startOf("i")],
      watches: range(SHARDS).map((shard) => watchOf(`k${shard}`, { shard })),
    });
    return storages;
  })
  .extend("pass", ({ storages }) => {
    let now = 1_000_000;
    return async (seconds: number, holders: readonly string[]) => {
      let held: ReadonlyMap<string, readonly number[]> = new Map();
      for (const end = now + seconds * 1_000; now < end;) {
        now += 1_000;
        const claims = holders.map(async (holder): Promise<[string, readonly number[]]> => {
          const shards = await storages
            .get(holder)
            ?.claimShards({ kind: "signature", holder, now, leaseMs: LEASE_MS });
          return [holder, shards ?? []];
        });
        held = new Map(await Promise.all(claims));
        const all = [...held.values()].flat();
        expect(new Set(all).size, "no shard has two holders").toBe(all.length);
      }
      return held;
    };
  });

const sizes = (held: ReadonlyMap<string, readonly number[]>): number[] =>
  [...held.values()].map(({ length }) => length).toSorted((x, y) => x - y);

describe.skipIf(!HAS_POSTGRES)("shards of three processes on PostgreSQL", () => {
  test("D5: they hold 5, 5 and 6 of 16 within four seconds of coming, and what one leaves, or dies with, goes to the others", async ({
    storages,
    pass,
  }) => {
    expect(sizes(await pass(1, ["a"]))).toEqual([SHARDS]);
    expect(sizes(await pass(4, ["a", "b", "c"]))).toEqual([5, 5, 6]);
    await storages.get("b")?.releaseShards("b");
    expect(sizes(await pass(3, ["a", "c"]))).toEqual([8, 8]);
    expect(sizes(await pass(4, ["a", "b", "c"]))).toEqual([5, 5, 6]);
    // c says nothing more: its leases end, and two seconds later the others have them.
    expect(sizes(await pass(LEASE_MS / 1_000 + 2, ["a", "b"]))).toEqual([8, 8]);
  });
});
