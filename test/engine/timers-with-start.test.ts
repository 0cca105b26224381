/** Timers that are due at once fire in the commit that starts their instance. */
import { describe, expect, test } from "vitest";
import { createMachine } from "xstate";
import { workflow, type Workflow } from "paystate/engine";
import type { PaymentTables } from "../../src/payments/payment-storage.ts";
import { adapters } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";

const chart = createMachine({
  id: "door",
  initial: "closed",
  states: { closed: { after: { 0: "open" }, on: { LOCK: "locked" } }, open: {}, locked: {} },
});

const doors = (value: string): Workflow<typeof chart, PaymentTables> =>
  workflow(chart)<PaymentTables>({
    version: 1,
    project: ({ id, before }) =>
      before === null ? [] : [{ table: "facts", insert: { id: `${value} ${id}`, value } }],
  });

describe.each(drawn(adapters, "timers with a start"))("timers with a start on $name", (adapter) => {
  test("a process that works fires a timer of 0 ms in the commit of the start: two steps of history, and no task", () =>
    inWorld(adapter, async ({ engine, log, storage, settled, awaitsOutside }) => {
      const door = doors("first");
      const one = await engine({ workflows: [door] });
      one.run();
      await settled();
      log.commits.splice(0);
      expect(await one.start(door, { id: "d", input: undefined })).toEqual({ ok: true });
      expect(await one.read("d")).toMatchObject({ value: "open" });
      expect(await storage.fact("first d")).toBe("first");
      await settled();
      expect(log.commits).toHaveLength(1);
      expect(await storage.tasks({ order: "instance", instance: "d", limit: 10 })).toEqual([]);
      const history = await one.history("d");
      expect(history.map(({ version, value }) => [version, value])).toEqual([
        [1, "closed"],
        [2, "open"],
      ]);
      expect(history[1]?.cause).toMatchObject({ kind: "timer", from: { instance: "d" } });
      const { version, life, stamp, createdAt } = (await storage.load("d")) ?? {};
      expect(version).toBe(2);
      expect(life).not.toBe(stamp);
      expect(createdAt).toBe(history[0]?.at);
      awaitsOutside("d");
    }));

  test("a process that does not work, or whose caller waits for the state, leaves the timer to its task", () =>
    inWorld(adapter, async ({ engine, settled, awaitsOutside }) => {
      const door = doors("second");
      const one = await engine({ workflows: [door] });
      await one.start(door, { id: "d", input: undefined });
      expect((await one.read("d"))?.value).toBe("closed");
      await one.send(door, "d", { type: "LOCK" });
      one.run();
      await settled();
      expect((await one.read("d"))?.value).toBe("locked");
      const seen = one.waitFor(door, "e", { state: "closed" }, { mustExist: false });
      await one.start(door, { id: "e", input: undefined });
      expect((await seen).value).toBe("closed");
      await settled();
      awaitsOutside("d", "e");
    }));

  test("what refuses the step of the timer does not refuse the start", () =>
    inWorld(adapter, async ({ engine, storage, settled, pass, awaitsOutside }) => {
      const door = doors("taken");
      const one = await engine({ workflows: [door] });
      one.run();
      await one.commit({ writes: [{ table: "facts", insert: { id: "taken d", value: "by another" } }] });
      expect(await one.start(door, { id: "d", input: undefined })).toEqual({ ok: true });
      await settled();
      expect((await one.read("d"))?.value).toBe("closed");
      expect(await storage.tasks({ order: "instance", instance: "d", limit: 10 })).toMatchObject([
        { kind: "timer", failures: 1 },
      ]);
      await one.commit({ writes: [{ table: "facts", remove: "taken d" }] });
      await pass(2_000);
      expect((await one.read("d"))?.value).toBe("open");
      awaitsOutside("d");
    }));

  test("a timer that throws does so in its own task", () =>
    inWorld(adapter, async ({ engine, storage, settled, pass, awaitsOutside }) => {
      let isBroken = true;
      const guard = (): boolean => {
        if (isBroken) throw new Error("the hinge is broken");
        return true;
      };
      const broken = createMachine({
        id: "broken",
        initial: "closed",
        states: { closed: { after: { 0: { target: "open", guard } } }, open: {} },
      });
      const door = workflow(broken)({ version: 1 });
      const one = await engine({ workflows: [door] });
      one.run();
      expect(await one.start(door, { id: "d", input: undefined })).toEqual({ ok: true });
      await settled();
      expect(await storage.tasks({ order: "instance", instance: "d", limit: 10 })).toMatchObject([
        { kind: "timer", failures: 1 },
      ]);
      isBroken = false;
      await pass(2_000);
      expect((await one.read("d"))?.value).toBe("open");
      awaitsOutside("d");
    }));
});
