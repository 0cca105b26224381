/** Timers that are due at once fire in the commit that starts their instance. */
import { expect } from "vitest";
import { createMachine } from "xstate";
import { workflow, type Workflow } from "paystate/engine";
import type { PaymentTables } from "../../src/payments/payment-storage.ts";
import { engineTest } from "../kit/engine-test.ts";

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

const { test, engine, running, log, storage, settled, pass, tasksOf, awaitsOutside } =
  engineTest("timers with a start");

test("a process that works fires a timer of 0 ms in the commit of the start: two steps of history, and no task", async () => {
  const door = doors("first");
  const one = await running(door);
  await settled();
  log.commits.splice(0);
  expect(await one.start(door, { id: "d", input: undefined })).toEqual({ ok: true });
  expect(await one.read("d")).toMatchObject({ value: "open" });
  expect(await storage.fact("first d")).toBe("first");
  await settled();
  expect(log.commits).toHaveLength(1);
  expect(await tasksOf("d")).toEqual([]);
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
});

test("a process that does not work, or whose caller waits for the state, leaves the timer to its task", async () => {
  const door = doors("second");
  const one = await engine(door, "d");
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
});

test("what refuses the step of the timer does not refuse the start", async () => {
  const door = doors("taken");
  const one = await running(door);
  await one.commit({ writes: [{ table: "facts", insert: { id: "taken d", value: "by another" } }] });
  expect(await one.start(door, { id: "d", input: undefined })).toEqual({ ok: true });
  await settled();
  expect((await one.read("d"))?.value).toBe("closed");
  expect(await tasksOf("d")).toMatchObject([{ kind: "timer", failures: 1 }]);
  await one.commit({ writes: [{ table: "facts", remove: "taken d" }] });
  await pass(2_000);
  expect((await one.read("d"))?.value).toBe("open");
  awaitsOutside("d");
});

test("a timer that throws does so in its own task", async () => {
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
  const one = await running(door);
  expect(await one.start(door, { id: "d", input: undefined })).toEqual({ ok: true });
  await settled();
  expect(await tasksOf("d")).toMatchObject([{ kind: "timer", failures: 1 }]);
  isBroken = false;
  await pass(2_000);
  expect((await one.read("d"))?.value).toBe("open");
  awaitsOutside("d");
});
