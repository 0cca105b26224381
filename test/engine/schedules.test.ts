/** What schedules promise besides being in time: deployments, pauses, missed moments, commands. */
// modules: schedules
import { expect, it } from "vitest";
import { createEngine, InvalidOptions, workflow } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import { sqliteStorage } from "paystate/storage/sqlite";
import { createMachine } from "xstate";
import { everyAdapter, inMemory } from "../kit/adapters.ts";
import { lent, testIn } from "../kit/engine-test.ts";
import { drawn } from "../kit/thorough.ts";
import {
  HOUR,
  inScheduleWorld,
  MINUTE,
  runs,
  type ScheduledProcess,
  type ScheduleWorld,
} from "./schedule-world.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const hourly = { cron: "0 * * * *", timezone: "UTC", workflow: runs } as const;

const { test, present } = testIn(
  { about: "schedules", kinds: drawn(everyAdapter, "schedules") },
  (adapter, act: (made: ScheduleWorld) => Promise<void>) => inScheduleWorld(adapter, NOON, act),
);
const world = lent(present);

/** A process that has the schedule. */
async function begun(rule: object = {}): Promise<ScheduledProcess["engine"]> {
  const { engine } = await world.begin();
  await engine.schedule("h", { ...hourly, ...rule });
  return engine;
}

test("F7: eight processes see one moment: it is started once", async () => {
  for (let count = 0; count < 8; count++) await begun();
  world.clock.set(NOON + HOUR);
  await Promise.all(world.living.map(({ engine }) => engine.settled()));
  expect(await world.started()).toEqual(["h@2026-01-01T13:00:00Z"]);
});

test("F7: a run that was removed, and a clock that is put back, start no moment again", async () => {
  const engine = await begun();
  await world.passUntil(NOON + HOUR);
  expect(await engine.removeInstance("h@2026-01-01T13:00:00Z")).toBe("removed");
  world.clock.put(-90 * MINUTE);
  await world.passUntil(NOON + HOUR + MINUTE);
  const other = await begun();
  await world.passUntil(NOON + HOUR + 2 * MINUTE);
  expect(await world.started()).toEqual([]);
  expect(await other.schedules.list()).toMatchObject([{ next: NOON + 2 * HOUR, last: NOON + HOUR }]);
});

test("an earlier deployment does not take a schedule back", async () => {
  const early = await begun();
  const late = await begun({ version: 2, cron: "30 * * * *" });
  expect(await early.schedule("h", hourly)).toMatchObject({ version: 2, cron: "30 * * * *" });
  expect(await late.schedules.list()).toMatchObject([{ version: 2, next: NOON + HOUR / 2 }]);
  await world.passUntil(NOON + HOUR);
  expect(await world.started()).toEqual(["h@2026-01-01T12:30:00Z"]);
});

test("a definition that has changed under an unchanged version is refused", async () => {
  const engine = await begun();
  const refused = engine.schedule("h", { ...hourly, cron: "1 * * * *" });
  await expect(refused).rejects.toThrow(/cron has changed .*: was 0 \* \* \* \*, is 1 .*; raise version/);
});

test("D58: a rule whose moments are over is refused where it is given, and stays where it was given before", async () => {
  const once = { cron: "0 0 13 1 1 * 2026" };
  const engine = await begun(once);
  await world.passUntil(NOON + 2 * HOUR);
  expect(await world.started()).toEqual(["h@2026-01-01T13:00:00Z"]);
  expect(await engine.schedule("h", { ...hourly, ...once })).toMatchObject({ next: null });
  expect(await engine.schedule("h", { ...hourly, ...once, version: 2, missed: "all" })).toMatchObject({
    version: 2,
  });
  const over = { ...hourly, cron: "0 30 13 1 1 * 2026", version: 3 };
  await expect(engine.schedule("h", over)).rejects.toThrow("has no moment to come");
  await expect(engine.schedule("new", over)).rejects.toThrow(InvalidOptions);
  expect(await engine.schedules.list()).toMatchObject([{ id: "h", version: 2 }]);
});

test("F7: moments of a pause are not missed, and a paused schedule can be triggered", async () => {
  const engine = await begun({ missed: "all" });
  expect(await engine.schedules.pause("h")).toBe(true);
  expect(await engine.schedules.pause("h")).toBe(false);
  await world.passUntil(NOON + 2.5 * HOUR);
  expect(await engine.schedules.trigger("h")).toBe("h@2026-01-01T14:30:00.000Z");
  expect(await engine.schedules.resume("h")).toBe(true);
  expect(await engine.schedules.resume("h")).toBe(false);
  await world.passUntil(NOON + 3 * HOUR);
  expect(await world.started()).toEqual(["h@2026-01-01T14:30:00.000Z", "h@2026-01-01T15:00:00Z"]);
  expect((await engine.read("h@2026-01-01T15:00:00Z"))?.context).toEqual({
    scheduledAt: NOON + 3 * HOUR,
  });
});

test("D85: a schedule that was removed starts nothing, and only a later definition brings it back", async () => {
  const early = await begun({ missed: "all" });
  const late = await begun({ version: 2, cron: "30 * * * *", missed: "all" });
  await late.schedules.remove("h");
  expect(await early.schedules.list()).toEqual([]);
  const { pause, resume, trigger, remove } = late.schedules;
  for (const act of [pause, resume, trigger, remove]) {
    await expect(act("h")).rejects.toThrow("there is no schedule");
  }
  await world.passUntil(NOON + 2 * HOUR);
  // Deployments start again, the one of before among them.
  await begun({ missed: "all" });
  const again = await begun({ version: 2, cron: "30 * * * *", missed: "all" });
  const told = await again.schedule("h", { ...hourly, missed: "all" });
  expect(told).toMatchObject({ version: 2, next: null, removedAt: NOON });
  // The next version of the chart is no later definition.
  const next = workflow(createMachine({ id: "run" }))({ version: 2 });
  const { engine: upgraded } = await world.begin(undefined, [runs, next]);
  const same = { ...hourly, workflow: next, version: 2, cron: "30 * * * *", missed: "all" } as const;
  expect(await upgraded.schedule("h", same)).toMatchObject({ workflow: "run@1", removedAt: NOON });
  // Who takes a start starts the newest version that he knows; `started` counts those of the first.
  await upgraded.stop();
  await world.passUntil(NOON + 4 * HOUR);
  expect(await world.started()).toEqual([]);
  await begun({ version: 3, missed: "all" });
  expect(await again.schedules.list()).toMatchObject([{ next: NOON + 5 * HOUR, removedAt: null }]);
  await world.passUntil(NOON + 5 * HOUR);
  expect(await world.started()).toEqual(["h@2026-01-01T17:00:00Z"]);
});

test("D66: a schedule that is removed while its start is on the way: what was ordered is done once, and nothing after", async () => {
  const [one, other] = [await begun(), await begun()];
  const triggered = await one.schedules.trigger("h");
  world.clock.set(NOON + HOUR);
  await Promise.all([one.schedules.remove("h"), other.settled(), one.settled()]);
  await world.passUntil(NOON + 3 * HOUR);
  const started = await world.started();
  expect(started).toContain(triggered);
  expect(["h@2026-01-01T13:00:00Z", triggered]).toEqual(expect.arrayContaining(started));
});

test("F7: missed moments are none once a minute has not passed", async () => {
  const engine = await begun({ missed: "none" });
  await engine.stop();
  world.clock.set(NOON + HOUR + 50_000);
  await begun({ missed: "none" });
  await world.settled();
  expect(await world.started()).toEqual(["h@2026-01-01T13:00:00Z"]);
});

test("a backfill starts the moments of the past that have no run", async () => {
  const engine = await begun();
  await world.passUntil(NOON + HOUR);
  const ids = await engine.schedules.backfill("h", NOON - HOUR, NOON + HOUR);
  expect(ids).toEqual(["h@2026-01-01T11:00:00Z", "h@2026-01-01T12:00:00Z"]);
  expect(await engine.schedules.backfill("h", NOON, NOON + HOUR)).toHaveLength(1);
  await world.settled();
  expect(await world.started()).toEqual([...ids, "h@2026-01-01T13:00:00Z"]);
  expect(await engine.troubles()).toMatchObject({ failingTasks: 0 });
});

test("an id that a database would keep as another text is refused", async () => {
  const { engine } = await world.begin();
  for (const id of ["", "half \ud800 of a letter", "\udc00", "a\0b", "a".repeat(201)]) {
    await expect(engine.schedule(id, hourly)).rejects.toThrow("- id: ");
  }
  expect(await engine.schedule("ä 🕛", { ...hourly, id: "other" } as object as typeof hourly)).toMatchObject({
    id: "ä 🕛",
  });
});

test("a wrong definition is refused with what is right", async () => {
  const { engine } = await world.begin();
  const wrong: readonly [object, string][] = [
    [{ cron: "61 * * * *" }, "cron: "],
    [{ cron: "2026-01-01T00:00:00" }, "cron: expected fields of cron"],
    [{ cron: "0 0 30 2 *" }, "a 30 February"],
    [{ cron: "0 0 0 1 1 * 2025" }, "has no moment to come: its last was 2025-01-01T00:00:00.000Z"],
    [{ timezone: "Mars/Olympus" }, "timezone: expected an IANA timezone"],
    [{ input: "text" }, "input: expected an object"],
    [{ input: new Map([["shop", "Mitte"]]) }, "input: expected an object"],
    [{ missed: "some" }, "missed: "],
    [{ workflow: "run" }, "workflow: expected what workflow() returns"],
  ];
  for (const [part, said] of wrong) {
    const refused = engine.schedule("h", { ...hourly, ...part });
    await expect(refused).rejects.toThrow(InvalidOptions);
    await expect(refused).rejects.toThrow(said);
  }
  const other = workflow(createMachine({ id: "other" }))({ version: 1 });
  await expect(engine.schedule("h", { ...hourly, workflow: other })).rejects.toThrow("other@1");
});
it("F7: schedules that wait write nothing, and read once in five seconds", async () => {
  const asked: string[] = [];
  const counted = (storage: EngineStorage): EngineStorage => {
    const methods = Object.entries(storage) as [string, (...given: never[]) => unknown][];
    const counting = methods.map(([name, method]) => [
      name,
      (...given: never[]) => {
        asked.push(name);
        return method(...given);
      },
    ]);
    return Object.fromEntries(counting) as EngineStorage;
  };
  const make = async (): Promise<Awaited<ReturnType<typeof inMemory.make>>> => {
    const database = await inMemory.make();
    return { ...database, open: async () => counted(await database.open()) as never };
  };
  await inScheduleWorld({ make }, NOON + MINUTE, async (world) => {
    const { engine } = await world.begin();
    await engine.schedule("h", hourly);
    await engine.settled();
    asked.length = 0;
    for (let second = 0; second < 600; second++) {
      world.clock.advance(1_000);
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    }
    expect(asked.length).toBeLessThanOrEqual(600);
    expect(asked.filter((name) => name === "commit")).toEqual([]);
    expect(asked.filter((name) => name === "find").length).toBeLessThanOrEqual(121);
  });
});

it.each([
  ["an object", { id: "t" }],
  ["undefined", undefined],
  ["empty", ""],
  ["text with NUL", "a\0b"],
])("what is %s in place of an id is refused by each act on schedules", async (_name, given) => {
  const { schedules } = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [] });
  const id = given as string;
  const { pause, resume, trigger } = schedules;
  for (const act of [pause, resume, trigger, (each: string) => schedules.backfill(each, 0, 1)]) {
    await expect(act(id)).rejects.toThrow("id cannot be stored: expected text that is not empty");
  }
});
