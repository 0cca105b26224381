/** Shares of watches on PostgreSQL: three processes share the shards fairly, and one that comes or goes has or leaves its part within seconds. */
// modules: watching
import { describe, expect } from "vitest";
import { WatchShare } from "../../src/engine/modules/watching/watch-shares.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

const SHARDS = 16;
const LEASE_MS = 15_000;
type Holder = "a" | "b" | "c";

/** `pass` lets so many seconds pass, in which each holder renews once a second, all at the same moment, as engines do. */
const test = postgresTest
  .extend("clock", () => virtualClock(1_000_000))
  .extend("shares", async ({ database, clock }, { onCleanup }) => {
    const storages = await Promise.all([database.open(), database.open(), database.open()]);
    onCleanup(async () => {
      for (const storage of storages) await storage.close();
    });
    const [a, b, c] = storages.map((storage, index) => {
      const holder = "abc".charAt(index);
      return new WatchShare("signature", { storage, clock, holder, leaseMs: LEASE_MS });
    });
    if (a === undefined || b === undefined || c === undefined) throw new Error("three storages");
    return { a, b, c } satisfies Record<Holder, WatchShare>;
  })
  .extend(
    "pass",
    ({ shares, clock }) =>
      async (seconds: number, holders: readonly Holder[]): Promise<number[]> => {
        for (let second = 0; second < seconds; second += 1) {
          clock.advance(1_000);
          await Promise.all(holders.map((holder) => shares[holder].renew()));
          const all = holders.flatMap((holder) => shares[holder].shards);
          expect(new Set(all).size, "no shard has two holders").toBe(all.length);
        }
        return holders.map((holder) => shares[holder].shards.length).toSorted((x, y) => x - y);
      },
  );

describe.skipIf(!HAS_POSTGRES)("shards of three processes on PostgreSQL", () => {
  test("D5: they hold 5, 5 and 6 of 16 within four seconds of coming, and what one leaves, or dies with, goes to the others", async ({
    shares,
    pass,
  }) => {
    expect(await pass(1, ["a"])).toEqual([SHARDS]);
    expect(await pass(4, ["a", "b", "c"])).toEqual([5, 5, 6]);
    await shares.b.giveUp();
    expect(await pass(3, ["a", "c"])).toEqual([8, 8]);
    expect(await pass(4, ["a", "b", "c"])).toEqual([5, 5, 6]);
    // c says nothing more: its leases end, and two seconds later the others have them.
    expect(await pass(LEASE_MS / 1_000 + 2, ["a", "b"])).toEqual([8, 8]);
  });
});
