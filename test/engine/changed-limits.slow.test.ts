/** Priorities within a limit, and limits that are changed at run time, over two engines. */
// modules: rates
import { expect, it } from "vitest";
import { createEngine, workflow, type KeyLimit, type OwnLimit } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { silentLogger } from "../../src/core/runtime.ts";
import { adapters } from "../kit/adapters.ts";
import { turns, until, type EngineWorld } from "../kit/engine-world.ts";
import { mortalProcess } from "../kit/mortal.ts";
import { sampled } from "../kit/thorough.ts";
import { handlerOf, jobChart, type Work } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const SECOND = 1_000;
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const jobs = (run: Work, limit: OwnLimit<{ readonly id: string }>) =>
  workflow(jobChart)({ version: 1, effects: { work: { run: handlerOf(run), limit } } });

/** Work that hangs until it is ended, and tells what has begun. */
function hangingWork() {
  const begun: string[] = [];
  const running = new Map<string, () => void>();
  const run: Work = ({ id }) => {
    begun.push(id);
    return new Promise((resolve) => {
      running.set(id, () => {
        running.delete(id);
        resolve({ event: { type: "DONE", by: id } });
      });
    });
  };
  const end = (count: number): void => [...running.values()].slice(0, count).forEach((done) => done());
  return { run, begun, running, end };
}

/** Two engines that run these jobs, which one of them has started before. */
async function twoEngines({ engine }: EngineWorld, made: ReturnType<typeof jobs>, ids: readonly string[]) {
  const workflows = [made];
  const [one, other] = [await engine({ workflows }), await engine({ workflows })];
  await Promise.all(ids.map((id) => one.start(made, { id, input: { id } })));
  one.run();
  other.run();
  return [one, other] as const;
}

const { test, world, engine, clock, storage, open, pass } = engineTest(
  "changed limits",
  sampled(adapters, "changed limits"),
);

test("F5: of two engines' jobs that wait those of a higher priority begin first, of one priority in the order of asking", async () => {
  const { run, begun, running, end } = hangingWork();
  const urgent = jobs(run, ({ id }) => ({ key: "stripe", atMost: 2, priority: Number(id.split(" ")[0]) }));
  const [one, other] = await twoEngines(world, urgent, ["0 a", "0 b"]);
  await until(() => running.size === 2);
  for (const id of ["0 c", "-1 d", "5 e"]) await one.start(urgent, { id, input: { id } });
  for (const id of ["5 f", "0 g", "1 h"]) await other.start(urgent, { id, input: { id } });
  const { tasks } = await other.pending("0 g");
  expect(tasks[0]).toMatchObject({ waitsFor: { key: "stripe", before: 4 } });
  for (let done = 0; done < 8; done++) {
    await until(() => running.size === Math.min(2, 8 - done));
    end(1);
  }
  await world.settled();
  expect(begun.slice(2)).toEqual(["5 e", "5 f", "1 h", "0 c", "0 g", "-1 d"]);
});

test("F6: a limit that is raised, lowered, paused and given back while 1,000 wait holds at once, and stops nothing that runs", async () => {
  const { run, begun, running, end } = hangingWork();
  const limited = jobs(run, { key: "stripe", atMost: 4 });
  const ids = range(1_000).map((index) => `j${index}`);
  const [one, other] = await twoEngines(world, limited, ids);
  await until(() => running.size === 4);
  await other.setLimit("stripe", { atMost: 60 });
  await until(() => running.size === 60);
  await one.setLimit("stripe", { atMost: 3 });
  end(50);
  await turns(500);
  expect([running.size, begun.length], "none begins while more run").toEqual([10, 60]);
  end(9);
  await until(() => begun.length === 62);
  await other.setLimit("stripe", { atMost: 0 });
  end(3);
  await world.settled();
  expect([running.size, begun.length], "a pause").toEqual([0, 62]);
  expect(await one.limits()).toEqual([{ key: "stripe", atMost: 0 }]);
  await one.setLimit("stripe", null);
  await until(() => running.size === 4);
  await other.setLimit("stripe", { atMost: 2_000 });
  while (begun.length < 1_000 || running.size > 0) {
    await until(() => running.size > 0);
    end(200);
  }
  await world.settled();
  expect(new Set(begun).size).toBe(1_000);
  expect(begun).toHaveLength(1_000);
  for (const id of ["j0", "j999"]) expect((await one.read(id))?.status).toBe("done");
});

test("F6: a rate that is set, raised and given back while jobs wait for it holds from the next run on", async () => {
  const begun: number[] = [];
  const from = clock.now();
  const limited = jobs(
    async ({ id }) => {
      begun.push(clock.now() - from);
      return { event: { type: "DONE", by: id } };
    },
    { key: "stripe", atMost: 3 },
  );
  const setting = await world.engine(limited);
  await setting.setLimit("stripe", { rate: { count: 1, perMs: 10 * SECOND } });
  const [one, other] = await twoEngines(world, limited, range(9).map(String));
  await pass(11 * SECOND);
  expect(begun).toEqual([0, 10 * SECOND]);
  const tasks = (await Promise.all(range(9).map((id) => one.pending(String(id))))).flatMap(
    (each) => each.tasks,
  );
  const waits = tasks.map(({ waitsFor }) => waitsFor ?? { key: "" });
  expect(waits.filter((wait) => "until" in wait)).toContainEqual({
    key: "stripe",
    until: from + 20 * SECOND,
  });
  await other.setLimit("stripe", { rate: { count: 2, perMs: SECOND } });
  await pass(500);
  expect(begun.slice(2), "brought forward").toEqual([11 * SECOND, 11 * SECOND]);
  await pass(600);
  expect(begun.slice(4)).toEqual([12 * SECOND, 12 * SECOND]);
  // Lower than what has begun within the span: what waits goes on waiting, and has not failed.
  await one.setLimit("stripe", { rate: { count: 1, perMs: 10 * SECOND } });
  await pass(1_500);
  expect(begun).toHaveLength(6);
  const pending = await Promise.all(range(9).map((id) => one.pending(String(id))));
  expect(pending.flatMap((each) => each.tasks).map(({ failures }) => failures)).toEqual([0, 0, 0]);
  await one.setLimit("stripe", null);
  await pass(100);
  expect(begun).toHaveLength(9);
});

test("F6: an engine that dies at any call of setLimit has changed both numbers, or neither", async () => {
  const looking = await engine({ workflows: [] });
  const before: KeyLimit = { atMost: 1, rate: { count: 1, perMs: SECOND } };
  const after: KeyLimit = { atMost: 7, rate: { count: 7, perMs: SECOND } };
  const seen = new Set<number | undefined>();
  let isOver = false;
  for (let call = 1; !isOver; call++) {
    for (const moment of ["before", "after"] as const) {
      await looking.setLimit("stripe", before);
      const dying = mortalProcess({ call, moment });
      const victim = createEngine({
        storage: dying.within(await open()),
        workflows: [],
        clock: dying.timedBy(clock),
        logger: silentLogger,
      });
      const set = victim.setLimit("stripe", after).then(() => (isOver = true));
      await Promise.race([dying.died, set]);
      const [left] = await looking.limits();
      expect([before, after]).toContainEqual({ atMost: left?.atMost, rate: left?.rate });
      const armed = range(9).map((index) => ({
        task: {
          id: `${call} ${moment} ${index}`,
          instance: "i",
          workflow: "w@1",
          kind: "effect" as const,
          name: "work",
          payload: "{}",
          dueAt: 0,
          limits: [{ key: "stripe", atMost: 3 }],
        },
      }));
      await storage.commit([{ arms: armed }]);
      const request = { holder: "h", now: clock.now(), leaseMs: SECOND, workflows: ["w@1"], maxCrashes: 5 };
      const claimed = await storage.claim({ ...request, steps: 0, free: 0, limited: 99 });
      expect(claimed).toHaveLength(left?.atMost ?? 0);
      seen.add(left?.atMost);
      for (const { id, token } of claimed) await storage.commit([{ consumes: { task: id, token } }]);
      await looking.setLimit("stripe", { atMost: 99 });
      for (const { id, token } of await storage.claim({ ...request, steps: 0, free: 0, limited: 99 })) {
        await storage.commit([{ consumes: { task: id, token } }]);
      }
    }
  }
  expect(seen).toEqual(new Set([1, 7]));
});

it("a limit that cannot be set, and a priority that is none, are refused with their field", async () => {
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [],
    logger: silentLogger,
  });
  const refusalOf = (key: string, limit: object): Promise<unknown> =>
    engine.setLimit(key, limit as KeyLimit).catch(String);
  expect(await refusalOf("", { atMost: 1 })).toContain("expected text that is not empty");
  expect(await refusalOf("stripe", {})).toContain("expected atMost, rate, or null");
  expect(await refusalOf("stripe", { atMost: -1 })).toContain(
    "atMost is -1, which is no whole number from 0",
  );
  expect(await refusalOf("stripe", { rate: { count: 0, perMs: 1 } })).toContain("rate.count is 0");
  expect(await refusalOf("stripe", { priority: 3 })).toContain("priority cannot be set");
  expect(await engine.limits()).toEqual([]);
  const limitedBy =
    (limit: OwnLimit<unknown>): (() => unknown) =>
    () =>
      jobs(async () => undefined, limit);
  const first = { key: "a", atMost: 1 };
  expect(limitedBy({ ...first, priority: 0.5 })).toThrow("limit a: priority is 0.5");
  expect(limitedBy([first, { key: "b", atMost: 1, priority: 1 }])).toThrow("limit b: priority: the first");
});
