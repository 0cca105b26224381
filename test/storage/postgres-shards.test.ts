/** Shards of watches on PostgreSQL: three processes share them fairly, and one that comes or goes has or leaves its part within seconds. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { put, range, startOf, watchOf } from "../contracts/storage/samples.ts";
import { type PostgresDatabase, postgresDatabase } from "../kit/postgres-database.ts";
import { postgresStorage } from "../kit/storages.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const SHARDS = 16;
const LEASE_MS = 15_000;

describe.skipIf(!HAS_POSTGRES)("shards of three processes on PostgreSQL", () => {
  let database: PostgresDatabase;
  let storages: Map<string, PaymentStorage>;
  let now: number;

  beforeEach(async () => {
    database = await postgresDatabase();
    now = 1_000_000;
    storages = new Map();
    for (const holder of ["a", "b", "c"]) storages.set(holder, await postgresStorage(database.open));
    const [first] = storages.values();
    if (first === undefined) throw new Error("three storages");
    await put(first, {
      starts: [startOf("i")],
      watches: range(SHARDS).map((shard) => watchOf(`k${shard}`, { shard })),
    });
  });
  afterEach(async () => {
    for (const storage of storages.values()) await storage.close();
    await database.destroy();
  });

  /** Each claims once a second, all at the same moment, as engines do. */
  const pass = async (
    seconds: number,
    holders: readonly string[],
  ): Promise<ReadonlyMap<string, readonly number[]>> => {
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
  const sizes = (held: ReadonlyMap<string, readonly number[]>): number[] =>
    [...held.values()].map(({ length }) => length).toSorted((x, y) => x - y);

  test("D5: they hold 5, 5 and 6 of 16 within four seconds of coming, and what one leaves, or dies with, goes to the others", async () => {
    expect(sizes(await pass(1, ["a"]))).toEqual([SHARDS]);
    expect(sizes(await pass(4, ["a", "b", "c"]))).toEqual([5, 5, 6]);
    await storages.get("b")?.releaseShards("b");
    expect(sizes(await pass(3, ["a", "c"]))).toEqual([8, 8]);
    expect(sizes(await pass(4, ["a", "b", "c"]))).toEqual([5, 5, 6]);
    // c says nothing more: its leases end, and two seconds later the others have them.
    expect(sizes(await pass(LEASE_MS / 1_000 + 2, ["a", "b"]))).toEqual([8, 8]);
  });
});
