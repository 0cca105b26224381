/** The storage contract on watches. */
import assert from "node:assert/strict";
import { promise, type StorageContractCase } from "./contract.ts";
import { put, range, watchOf } from "./samples.ts";
import { watchedKinds } from "../../../src/engine/kernel/stored-names.ts";

const kind = "signature";

/** Watches: kept per kind, key and instance. */
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
  promise("the kinds that are watched are told, and only those", async ({ storage, other }) => {
    assert.deepEqual(await watchedKinds(storage), []);
    await put(storage, {
      watches: [
        watchOf("b", { kind: "two" }),
        watchOf("a", { kind: "one" }),
        watchOf("c", { kind: "two", shard: 9 }),
      ],
    });
    assert.deepEqual(await watchedKinds(other), ["one", "two"]);
    await put(storage, { unwatches: [{ kind: "one", key: "a", instance: "i" }] });
    assert.deepEqual(await watchedKinds(other), ["two"]);
  }),
];
