/** The enumerator itself: a storage whose commits can be torn apart does not get past it. */
// modules: private, webhooks
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { adapters } from "../kit/adapters.ts";
import { COMPLETED, post } from "./acts.ts";
import { KILLED_ONCE, liveThrough } from "./every-death.ts";
import type { Flow } from "./flow.ts";
import { surroundings, type Surroundings } from "./world.ts";

let around: Surroundings;
beforeAll(async () => {
  around = await surroundings();
});
afterAll(() => around.close());

/** Ends a task in one commit, and brings what follows from it in another. */
function torn(storage: PaymentStorage): PaymentStorage {
  return {
    ...storage,
    async commit(items) {
      const results = [];
      for (const { consumes, ...rest } of items) {
        if (consumes !== undefined) await storage.commit([{ consumes }]);
        results.push(...(await storage.commit([rest])));
      }
      return results;
    },
  };
}

test("a commit that is really two loses something at the right death, and that is noticed", async () => {
  const flow: Flow = {
    holds: "nothing",
    through: torn,
    acts: [post("payment")],
    ends: {
      payment: [COMPLETED],
    },
  };
  const [adapter] = adapters;
  if (adapter === undefined) throw new Error("there is no adapter");
  const { calls, broken } = await liveThrough(flow, KILLED_ONCE, undefined, around, adapter);
  expect(broken).toEqual([]);
  const commits = calls.flatMap((method, index) => (method === "commit" ? [index + 1] : []));
  const noticed: string[] = [];
  for (const call of commits) {
    if (noticed.length > 0) break;
    const death = { call, moment: "after" } as const;
    const lost = liveThrough(flow, KILLED_ONCE, death, around, adapter);
    noticed.push(...(await lost.then((life) => life.broken).catch((error: unknown) => [String(error)])));
  }
  expect(noticed).not.toEqual([]);
});
