/** When a kind of watches is polled. */
// modules: watching
import { expect, test } from "vitest";
import { WatchKindLoop } from "../../src/engine/modules/watching/watch-kind-loop.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { memoryStorage } from "../kit/storages.ts";
import { gate, turns } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

test("D5: a kind whose last watch goes while its shards are renewed is polled again as soon as there is a new one", async () => {
  const memory = await memoryStorage();
  const clock = virtualClock();
  const renewing = gate();
  let leases = 0;
  let isHeld = false;
  const storage: typeof memory = {
    ...memory,
    async find(query) {
      if (isHeld) await renewing.opened;
      return memory.find(query);
    },
    async lease(request) {
      leases += 1;
      return memory.lease(request);
    },
  };
  const around = { storage, clock, log: silentLogger, holder: "h", leaseMs: 1_000 };
  const watcher = { intervalMs: 100, poll: async () => [] };
  const send = async () => ({ kind: "absent" }) as const;
  const polling = new WatchKindLoop("sky", watcher, { ...around, send });
  polling.run();
  isHeld = true;
  polling.follow(true);
  await turns(10);
  polling.follow(false);
  isHeld = false;
  renewing.open();
  await turns(10);
  const before = leases;
  polling.follow(true);
  await turns(10);
  expect(leases).toBeGreaterThan(before);
  await polling.close(Promise.resolve());
});
