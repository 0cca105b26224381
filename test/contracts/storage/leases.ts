/** The storage contract on named leases: each name has one holder at a time, and everybody is told who. */
import assert from "node:assert/strict";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { either, LEASE, range } from "./samples.ts";

interface Asking {
  readonly names?: readonly string[];
  readonly leaseMs?: number;
}

/** Who has each name, as `name holder until`. */
async function lease(
  storage: PaymentStorage,
  holder: string,
  now: number,
  { names = ["a"], leaseMs = LEASE }: Asking = {},
): Promise<readonly string[]> {
  const found = await storage.lease({ names, holder, now: () => now, leaseMs });
  return found.map(({ name, holder: by, until }) => `${name} ${by} ${until}`);
}

export const leaseCases: readonly StorageContractCase[] = [
  promise(
    "a free name goes to who asks first, and all are told who has it until when",
    async ({ storage, other }) => {
      assert.deepEqual(await lease(storage, "h", 0), ["a h 1000"]);
      assert.deepEqual(await lease(other, "g", 999), ["a h 1000"]);
      assert.deepEqual(await lease(other, "g", 1_000), ["a g 2000"], "it has ended");
      assert.deepEqual(await lease(storage, "h", 1_001), ["a g 2000"]);
    },
  ),
  promise("a holder's own is extended once no more than half of it is left", async ({ storage, other }) => {
    await lease(storage, "h", 0);
    assert.deepEqual(await lease(storage, "h", LEASE / 2 - 1), ["a h 1000"], "nothing is written");
    assert.deepEqual(await lease(storage, "h", LEASE / 2), ["a h 1500"]);
    assert.deepEqual(await lease(other, "g", 1_499), ["a h 1500"]);
    assert.deepEqual(await lease(storage, "h", 900, { leaseMs: 200 }), ["a h 1100"], "shorter than before");
  }),
  promise(
    "who gives up leaves its own to others at once, takes nothing, and is told who has the rest",
    async ({ storage, other }) => {
      await lease(storage, "h", 0, { names: ["a", "b"] });
      await lease(other, "g", 0, { names: ["c"] });
      const names = ["a", "c", "free"];
      assert.deepEqual(await lease(storage, "h", 1, { names, leaseMs: 0 }), ["c g 1000"]);
      assert.deepEqual(await lease(other, "g", 1, { names: ["a", "b", "free"] }), [
        "a g 1001",
        "b h 1000",
        "free g 1001",
      ]);
      assert.deepEqual(await lease(storage, "h", 2, { names: ["a"], leaseMs: 0 }), ["a g 1001"]);
    },
  ),
  promise(
    "of twenty holders at once each name goes to one, and all are told the same",
    async ({ storage, other }) => {
      const names = range(8).map((index) => `n${index}`);
      const race = range(20).map((index) => lease(either(index, storage, other), `h${index}`, 0, { names }));
      const [first, ...rest] = await Promise.all(race);
      assert.equal(first?.length, 8);
      for (const each of rest) assert.deepEqual(each, first);
    },
  ),
  promise(
    "D10, D35: a lease that would last longer than it was given for, for the clock was set back, holds nobody up",
    async ({ storage, other }) => {
      assert.deepEqual(await lease(storage, "h", 100_000), ["a h 101000"]);
      assert.deepEqual(await lease(other, "g", 99_999), ["a g 100999"]);
      assert.deepEqual(await lease(storage, "h", 100_000), ["a g 100999"]);
    },
  ),
];
