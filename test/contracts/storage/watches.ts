/** The storage contract on watches and the shards they are polled by. */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { either, LEASE, put, range, watchOf } from "./samples.ts";

const kind = "signature";

/** The shards a holder gets, in ascending order. */
const claim = async (storage: PaymentStorage, holder: string, now: number): Promise<number[]> =>
  ascending(await storage.claimShards({ kind, holder, now, leaseMs: LEASE }));

const ascending = (shards: readonly number[]): number[] => shards.toSorted((a, b) => a - b);

/** Watches: kept per kind, key and instance; polled by one holder per shard. */
export const watchCases: readonly StorageContractCase[] = [
  promise("the watches of a kind and some shards come by key, then instance", async ({ storage, other }) => {
    const watches = [
      watchOf("b", { shard: 1 }),
      watchOf("a", { instance: "j", shard: 2 }),
      watchOf("a", { instance: "i", shard: 2 }),
      watchOf("B", { shard: 1 }),
    ];
    await put(storage, {
      watches: [...watches, watchOf("c", { shard: 3 }), watchOf("d", { kind: "balance", shard: 1 })],
    });
    const [b, aj, ai, B] = watches;
    assert.deepEqual(await other.watches({ kind, shards: [2, 1] }), [B, ai, aj, b]);
    assert.deepEqual(await other.watches({ kind, shards: [] }), []);
    assert.deepEqual(await other.watches({ kind: "none", shards: [1] }), []);
  }),
  promise("watching again changes the watch, and ending an absent one is no error", async ({ storage }) => {
    await put(storage, { watches: [watchOf("a"), watchOf("a", { instance: "j" })] });
    await put(storage, { watches: [watchOf("a", { workflow: "sample@2", shard: 4 })] });
    const unwatch = { kind, key: "a", instance: "j" };
    await put(storage, { unwatches: [unwatch, { ...unwatch, key: "none" }] });
    assert.deepEqual(await storage.watches({ kind, shards: [0, 4] }), [
      watchOf("a", { workflow: "sample@2", shard: 4 }),
    ]);
  }),
  promise("a commit that ends a watch and begins it again keeps it", async ({ storage }) => {
    await put(storage, { watches: [watchOf("a")] });
    await put(storage, {
      unwatches: [{ kind, key: "a", instance: "i" }],
      watches: [watchOf("a", { shard: 2 })],
    });
    assert.deepEqual(await storage.watches({ kind, shards: range(3) }), [watchOf("a", { shard: 2 })]);
  }),
  promise("a holder gets the shards that have watches and are free", async ({ storage, other }) => {
    assert.deepEqual(await claim(storage, "h", 0), []);
    await put(storage, {
      watches: [watchOf("a", { shard: 3 }), watchOf("b", { shard: 0 }), watchOf("c", { shard: 3 })],
    });
    await put(storage, { watches: [watchOf("d", { shard: 5, kind: "balance" })] });
    assert.deepEqual(await claim(storage, "h", 0), [0, 3]);
    assert.deepEqual(await claim(other, "g", LEASE - 1), []);
    assert.deepEqual(await claim(other, "g", LEASE), [0, 3], "the leases have ended");
    assert.deepEqual(await claim(storage, "h", LEASE), []);
    await put(storage, { watches: [watchOf("e", { shard: 9 })] });
    assert.deepEqual(await claim(storage, "h", LEASE), [9]);
  }),
  promise(
    "a holder's leases are extended once no more than half of them is left",
    async ({ storage, other }) => {
      await put(storage, { watches: [watchOf("a")] });
      await claim(storage, "h", 0);
      assert.deepEqual(
        await claim(storage, "h", LEASE / 2 - 1),
        [0],
        "more than half is left: nothing is written",
      );
      assert.deepEqual(await claim(other, "g", LEASE), [0]);
      assert.deepEqual(await claim(other, "g", LEASE + LEASE / 2), [0], "half is left: extended");
      assert.deepEqual(await claim(storage, "h", 2 * LEASE + LEASE / 2 - 1), []);
      assert.deepEqual(await claim(storage, "h", 2 * LEASE + LEASE / 2), [0]);
    },
  ),
  promise(
    "a holder that gives up its shards leaves them, of every kind, to others at once",
    async ({ storage, other }) => {
      await put(storage, {
        watches: [watchOf("a"), watchOf("b", { kind: "balance" }), watchOf("c", { shard: 1 })],
      });
      await claim(storage, "h", 0);
      await storage.claimShards({ kind: "balance", holder: "h", now: 0, leaseMs: LEASE });
      await other.releaseShards("g");
      assert.deepEqual(await claim(other, "g", 1), []);
      await storage.releaseShards("h");
      assert.deepEqual(await claim(other, "g", 1), [0, 1]);
      assert.deepEqual(
        await other.claimShards({ kind: "balance", holder: "g", now: 1, leaseMs: LEASE }),
        [0],
      );
    },
  ),
  promise("of twenty holders at once each shard goes to one", async ({ storage, other }) => {
    await put(storage, { watches: range(8).map((shard) => watchOf(`k${shard}`, { shard })) });
    const race = range(20).map((index) => claim(either(index, storage, other), `h${index}`, 0));
    assert.deepEqual(ascending((await Promise.all(race)).flat()), range(8));
  }),
  promise(
    "of a holder that comes later the first one hears at its next claim, and hands over half",
    async ({ storage, other }) => {
      await put(storage, { watches: range(8).map((shard) => watchOf(`k${shard}`, { shard })) });
      assert.deepEqual(await claim(storage, "h", 0), range(8));
      assert.deepEqual(await claim(other, "g", 1), []);
      assert.deepEqual(await claim(storage, "h", 2), range(4));
      assert.deepEqual(await claim(other, "g", 3), [4, 5, 6, 7], "handed over, not merely let go");
      assert.deepEqual(await claim(storage, "h", 4), range(4), "it stays that way");
      assert.deepEqual(await claim(other, "i", 5), []);
      assert.deepEqual(await claim(storage, "h", 6), [0, 1]);
      assert.deepEqual(await claim(other, "g", 7), [4, 5, 6]);
      assert.deepEqual(await claim(other, "i", 8), [2, 3]);
      assert.deepEqual(await claim(storage, "h", 9), [0, 1, 7]);
    },
  ),
  promise(
    "what one holder gives up or lets run out the others take, whoever asks first, and level out",
    async ({ storage, other }) => {
      await put(storage, { watches: range(6).map((shard) => watchOf(`k${shard}`, { shard })) });
      await claim(storage, "h", 0);
      await claim(other, "g", 0);
      assert.deepEqual(await claim(storage, "h", 1), range(3));
      assert.deepEqual(await claim(other, "g", 1), [3, 4, 5]);
      await other.releaseShards("g");
      assert.deepEqual(await claim(storage, "h", 2), range(6));
      assert.deepEqual(await claim(other, "g", 3), []);
      assert.deepEqual(await claim(storage, "h", 4), range(3));
      // The seat of the other is known until then, and so is what was handed to it.
      assert.deepEqual(await claim(storage, "h", 3 + LEASE - 1), range(3));
      assert.deepEqual(await claim(storage, "h", 3 + LEASE), range(6));
    },
  ),
  promise(
    "D10: a lease from before the clock was set back by more than an hour holds nobody up",
    async ({ storage, other }) => {
      const hour = 3_600_000;
      await put(storage, { watches: [watchOf("a")] });
      assert.deepEqual(await claim(storage, "h", 2 * hour), [0]);
      assert.deepEqual(await claim(other, "g", hour), [0]);
      assert.deepEqual(await claim(storage, "h", hour + 1), []);
    },
  ),
  promise("the kinds that are watched are told, and only those", async ({ storage, other }) => {
    assert.deepEqual(await storage.watchedKinds(), []);
    await put(storage, {
      watches: [
        watchOf("b", { kind: "two" }),
        watchOf("a", { kind: "one" }),
        watchOf("c", { kind: "two", shard: 9 }),
      ],
    });
    assert.deepEqual(await other.watchedKinds(), ["one", "two"]);
    await put(storage, { unwatches: [{ kind: "one", key: "a", instance: "i" }] });
    assert.deepEqual(await other.watchedKinds(), ["two"]);
  }),
  promise("a shard without watches is nobody's, and its watches are gone with them", async ({ storage }) => {
    await put(storage, { watches: [watchOf("a")] });
    await claim(storage, "h", 0);
    await put(storage, { unwatches: [{ kind, key: "a", instance: "i" }] });
    assert.deepEqual(await claim(storage, "h", 1), []);
    assert.deepEqual(await storage.watches({ kind, shards: [0] }), []);
  }),
];
