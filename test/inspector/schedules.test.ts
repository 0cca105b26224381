/** Schedules in the inspector: their rules and moments, and the acts on them where viewers may act. */
// modules: schedules
import { expect, test } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { createEngine } from "../../src/engine/index.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { runs } from "../engine/schedule-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { inWords, viewerOf, AT } from "./viewer.ts";

const opened = async (acts: boolean) => {
  const [clock, storage] = [virtualClock(), await sqliteStorage(":memory:")];
  const engine = createEngine({ storage, workflows: [runs], clock, logger: silentLogger });
  const viewer = viewerOf(createInspector({ engine, clock, acts }));
  const act = async (id: string, key: string): Promise<readonly [status: number, text: string]> => {
    const answer = await viewer.act({ id, do: key });
    return [answer.status, inWords(await answer.text())];
  };
  return { storage, clock, engine, read: viewer.text, act };
};

const NIGHTLY = { cron: "30 2 * * *", timezone: "Europe/Berlin", workflow: runs, version: 1 };

test("a schedule is listed with its rule, its zone, its next moment and its last run", async () => {
  const { engine, clock, read } = await opened(false);
  expect(await read("/schedules")).toContain("Nothing is started by time.");
  engine.run();
  await engine.schedule("nightly", NIGHTLY);
  const page = await read("/schedules");
  expect(page).toMatch(
    /nightly 30 2 \* \* \* Europe\/Berlin, of missed ones last run@1 2026-01-01 01:30:00 UTC/,
  );
  expect(page).toContain("never");
  expect(page).not.toContain("Pause");
  clock.set(Date.UTC(2026, 0, 1, 1, 30));
  await engine.waitFor(runs, "nightly@2026-01-01T01:30:00Z", "final", { mustExist: false });
  expect(await read("/schedules")).toMatch(/2026-01-02 01:30:00 UTC .* 2026-01-01 01:30:00 UTC/);
  await engine.stop();
});

test("a schedule is paused, resumed and triggered by hand, each after a page that says what will happen", async () => {
  const { engine, read, act } = await opened(true);
  engine.run();
  await engine.schedule("nightly", NIGHTLY);
  const name = "schedule:nightly";
  expect(await read(`/act?id=${name}&do=schedule+pause`)).toContain(
    "starts nothing by time until somebody resumes it",
  );
  expect(await act(name, "schedule pause")).toEqual([
    200,
    expect.stringContaining("The schedule is paused."),
  ]);
  expect(await read("/schedules")).toMatch(
    /Resume … Start a run … Remove … run@1 paused since 2026-01-01 00:00:00 UTC/,
  );
  // Somebody else has done it.
  expect((await act(name, "schedule pause"))[0]).toBe(409);
  const [, said] = await act(name, "schedule trigger");
  const [run = ""] = /nightly@\S+Z/.exec(said) ?? [];
  expect((await engine.waitFor(runs, run, "final", { mustExist: false })).status).toBe("done");
  expect(await act(name, "schedule resume")).toEqual([200, expect.stringContaining("The schedule goes on.")]);
  expect((await engine.schedules.list())[0]).toMatchObject({ pausedAt: null });
  expect((await act("schedule:none", "schedule pause"))[0]).toBe(409);
  await engine.stop();
});

test("a schedule is removed by hand, and takes no act any more", async () => {
  const { engine, read, act } = await opened(true);
  engine.run();
  await engine.schedule("nightly", NIGHTLY);
  const name = "schedule:nightly";
  expect(await read(`/act?id=${name}&do=schedule+remove`)).toContain("with a higher version only");
  const removed = expect.stringContaining("The schedule is removed.") as string;
  expect(await act(name, "schedule remove")).toEqual([200, removed]);
  expect(await engine.schedules.list()).toEqual([]);
  expect(await read("/schedules")).toContain("Nothing is started by time.");
  expect((await act(name, "schedule trigger"))[0]).toBe(409);
  await engine.stop();
});

test("an instance whose id is a schedule's name keeps its own acts", async () => {
  const { engine, act } = await opened(true);
  await engine.schedule("nightly", NIGHTLY);
  await engine.start(runs, { id: "schedule:nightly", input: { scheduledAt: 0 } });
  expect((await act("schedule:nightly", "pause"))[0]).toBe(409);
  expect((await act("schedule:nightly", "schedule pause"))[0]).toBe(200);
  expect(await engine.read("schedule:nightly")).toMatchObject({ value: "over" });
});

test("without the engine, beside its storage, the page says where schedules are shown", async () => {
  const { storage } = await opened(false);
  const { fetch } = createInspector({ storage, workflows: [runs] });
  const answer = await fetch(new Request(`${AT}/schedules`));
  expect([answer.status, await answer.text()]).toEqual([
    404,
    expect.stringContaining("Schedules are shown where their engine runs."),
  ]);
});
