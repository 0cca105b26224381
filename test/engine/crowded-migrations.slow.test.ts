/** Instances for which many messages wait as they are to move to another version of their chart. */
import { describe, expect, test } from "vitest";
import { MigrationFailed, workflow, type PreviousInstance } from "paystate/engine";
import type { EngineStorage } from "../../storage/storage.ts";
import { messageTask } from "../../src/workflow/messages.ts";
import { counter, counters as old } from "./counter.ts";
import { adapters } from "../kit/adapters.ts";
import { drawn } from "../kit/thorough.ts";
import { inWorld, turns } from "../kit/engine-world.ts";

const MESSAGES = 300;
const MINUTE = 60_000;

const good = workflow(counter)({
  version: 2,
  migrate: { 1: ({ context }: PreviousInstance<{ count: number }>) => ({ context }) },
});

/** A version to which no instance can move; `tried` is called at each try. */
const bad = (tried: () => void) =>
  workflow(counter)({
    version: 2,
    migrate: {
      1: () => {
        tried();
        throw new Error("no count");
      },
    },
  });

/** Messages to "c", all due now. */
function queue(storage: EngineStorage, count: number, dueAt: number) {
  const to = { instance: "c", workflow: old.key };
  const arms = Array.from({ length: count }, (_, index) => ({
    task: messageTask({ id: `m:1:${index}`, dueAt }, to, { event: { type: "ADD" } }),
  }));
  return storage.commit([{ arms }]);
}

describe.each(drawn(adapters, "crowded migrations"))("many messages and a migration on $name", (adapter) => {
  test("one that fails is tried once a second, however many messages wait, and the event loop turns meanwhile", () =>
    inWorld(adapter, async ({ engine, running, open, pass, clock, awaitsOutside }) => {
      await engine(old, "c");
      const handle = await open();
      await queue(handle, MESSAGES, clock.now());
      let tries = 0;
      let reads = 0;
      let failures = 0;
      const storage: EngineStorage = {
        ...handle,
        tasks: (listing) => ((reads += listing.order === "instance" ? 1 : 0), handle.tasks(listing)),
        release: (request) => ((failures += 1), handle.release(request)),
      };
      const worse = bad(() => (tries += 1));
      const failing = await running({ storage, workflows: [worse] });
      await turns(3);
      expect(failures).toBeLessThan(MESSAGES);
      await failing.settled();
      // The others wait behind the first.
      expect({ tries, reads, failures }).toEqual({ tries: 1, reads: 1, failures: 1 });
      // The same fault for those who send, and none of it outlasts a second.
      await expect(failing.send(worse, "c", { type: "ADD" })).rejects.toBeInstanceOf(MigrationFailed);
      expect(tries).toBe(1);
      await pass(1_000);
      expect({ tries, failures }).toEqual({ tries: 2, failures: 2 });
      await failing.stop();
      const after = await running(good);
      await pass(MINUTE);
      expect(await after.read("c")).toMatchObject({ workflow: "counter@2", context: { count: MESSAGES } });
      awaitsOutside("c");
    }));

  test("a failed migration is tried again at once when the instance has changed", () =>
    inWorld(adapter, async ({ engine, awaitsOutside }) => {
      const before = await engine(old, "c");
      const picky = workflow(counter)({
        version: 2,
        migrate: {
          1: ({ context }: PreviousInstance<{ count: number }>) => {
            if (context.count === 0) throw new Error("no count");
            return { context };
          },
        },
      });
      const after = await engine(picky);
      await expect(after.send(picky, "c", { type: "ADD" })).rejects.toThrow("no count");
      await before.send(old, "c", { type: "ADD" });
      expect(await after.send(picky, "c", { type: "ADD" })).toMatchObject({ kind: "stepped" });
      expect(await after.read("c")).toMatchObject({ workflow: "counter@2", context: { count: 2 } });
      awaitsOutside("c");
    }));
});
