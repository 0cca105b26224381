/** Retention: what has ended goes when it is old enough and nothing needs it; everything else stays. */
// modules: retention
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assign, setup } from "xstate";
import { createEngine, workflow, type ArchivedInstance, type Engine, type Logger } from "paystate/engine";
import type { AnyCommit, EngineStorage } from "paystate/storage";
import { turns } from "../kit/engine-world.ts";
import { mortalProcess } from "../kit/mortal.ts";
import { EXPLORING_MS, THOROUGH } from "../kit/thorough.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const HOUR = 3_600_000;
const PASS = 600_000;

const jobs = job(async () => "work");

/** A parent that lives until it is told to close, with a child that ends by itself. */
const parents = workflow(
  setup({
    types: { events: {} as { type: "CLOSE" } },
    actors: {
      child: setup({}).createMachine({
        id: "child",
        initial: "busy",
        states: { busy: { after: { 1_000: "over" } }, over: { type: "final" } },
      }),
    },
  }).createMachine({
    id: "parent",
    initial: "open",
    states: {
      open: { invoke: { id: "child", src: "child" }, on: { CLOSE: "closed" } },
      closed: { type: "final" },
    },
  }),
)({ version: 1 });

const tallies = workflow(
  setup({
    types: {
      context: {} as { readonly owner: string; readonly count: number },
      input: {} as { readonly owner: string },
      events: {} as { type: "ADD" } | { type: "END" },
    },
  }).createMachine({
    id: "tally",
    context: ({ input }) => ({ owner: input.owner, count: 0 }),
    initial: "open",
    states: {
      open: { on: { ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) }, END: "over" } },
      over: { type: "final" },
    },
  }),
)({ version: 1 });

interface Standing {
  retention(): Promise<{ readonly lastPassAt: number | null }>;
}

/** Turns the clock until this engine has made one more pass. */
async function passed(engine: Standing, clock: VirtualClock): Promise<void> {
  const { lastPassAt } = await engine.retention();
  clock.advance(PASS);
  for (let turn = 0; turn < 2_000; turn++) {
    await turns(3);
    if ((await engine.retention()).lastPassAt !== lastPassAt) return;
    clock.advance(20);
  }
  throw new Error("no pass came to its end");
}

const { test, engine, running, clock, storage, settled, awaitsOutside } = engineTest("retention");

test("what has ended goes with its history when it is old enough, archived before, and not sooner", async () => {
  const archived: ArchivedInstance[] = [];
  const keeping = await running(
    {
      workflows: [jobs],
      keep: { finished: "2h" },
      async archive(instances) {
        for (const { id } of instances) expect(await storage.load(id)).not.toBeNull();
        archived.push(...instances);
      },
    },
    "j",
  );
  await settled();
  const before = await storage.load("j");
  const history = await storage.history("j", { after: 0, limit: 9 });
  clock.advance(HOUR);
  await keeping.start(jobs, { id: "young", input: { id: "young" } });
  await settled();
  await passed(keeping, clock);
  expect(archived).toEqual([]);
  expect(await keeping.retention()).toMatchObject({ finishedMs: 2 * HOUR, removed: 0, error: null });
  clock.advance(HOUR - PASS);
  await passed(keeping, clock);
  expect(archived).toEqual([{ ...before, history }]);
  expect(JSON.parse(JSON.stringify(archived))).toEqual(archived);
  expect([await keeping.read("j"), await keeping.history("j")]).toEqual([null, []]);
  expect((await keeping.read("young"))?.status).toBe("done");
});

test("D35: by a clock that was put on nothing is removed until it has gone on for an hour", async () => {
  const keeping = await running({ workflows: [jobs], keep: { finished: "90d" } }, "j");
  await settled();
  await passed(keeping, clock);
  clock.put(365 * 24 * HOUR);
  for (let passes = 0; passes < 6; passes += 1) {
    clock.advance(PASS);
    await turns(30);
    expect(await keeping.read("j"), `pass ${passes}`).not.toBeNull();
    expect((await keeping.retention()).error).toBe(
      `clock: it was off by ${365 * 24 * HOUR} ms: nothing is removed for an hour`,
    );
  }
  await passed(keeping, clock);
  expect(await keeping.read("j")).toBeNull();
  expect((await keeping.retention()).error).toBeNull();
});

test("while the archive throws nothing is removed, which is logged once and shown", async () => {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (_, message) => void errors.push(message) };
  let isFull = true;
  const keeping = await running(
    {
      workflows: [jobs],
      keep: { finished: "1h" },
      logger,
      archive() {
        if (isFull) throw new Error("the disk is full");
      },
    },
    "j",
  );
  await settled();
  clock.advance(HOUR);
  await passed(keeping, clock);
  await passed(keeping, clock);
  await passed(keeping, clock);
  expect((await keeping.read("j"))?.status).toBe("done");
  expect(errors).toEqual(["what is old could not be removed; it is tried again"]);
  expect((await keeping.retention()).error).toBe("finished: the disk is full");
  isFull = false;
  await passed(keeping, clock);
  expect(await keeping.read("j")).toBeNull();
  expect(await keeping.retention()).toMatchObject({ error: null, removed: 1, oldestFinishedMs: null });
});

test("D50: a damaged instance stays and is named, all others go, and its id starts again once it is removed", async () => {
  const found = workflow(tallies.machine)({
    version: 2,
    search: { owner: ({ context }) => context.owner }, // modules: search
  });
  const keeping = await running({ workflows: [found], keep: { finished: "1h" } });
  // More than a batch of them, and the damaged one among the first.
  const ids = Array.from({ length: 40 }, (_, index) => `t${index + 10}`);
  for (const id of ids) {
    await keeping.start(found, { id, input: { owner: "ada" } });
    await keeping.send(found, id, { type: "END" });
  }
  const [damaged = ""] = ids;
  const stored = await storage.load(damaged);
  if (stored === null) throw new Error("it is not there");
  const { stamp: after, workflow: key, hash, updatedAt: at } = stored;
  const step = { id: damaged, after, stamp: "x", workflow: key, hash, at } as const;
  await storage.commit([{ step: { ...step, status: "done", snapshot: "{" } }]);
  await settled();
  clock.advance(HOUR);
  await passed(keeping, clock);
  for (const id of ids.slice(1)) expect(await storage.load(id)).toBeNull();
  expect((await keeping.retention()).error).toContain(`removeInstance: ${damaged}`);
  expect(await keeping.removeInstance(damaged)).toBe("removed");
  expect(await keeping.start(found, { id: damaged, input: { owner: "bob" } })).toMatchObject({ ok: true });
  awaitsOutside(damaged);
  const { instances } = await keeping.list(found, { where: { owner: "bob" } }); // modules: search
  expect(instances.map(({ id }) => id)).toEqual([damaged]); // modules: search
  await passed(keeping, clock);
  expect((await keeping.retention()).error).toBeNull();
});

test("an instance with a dead letter stays until that is dropped", async () => {
  const keeping = await engine({ workflows: [jobs], keep: { finished: "1h" } });
  const record = {
    id: "d",
    stamp: "s",
    parent: null,
    workflow: "gone@1",
    hash: "h",
    status: "done",
    snapshot: "{}",
    createdAt: 1,
  } as const;
  const task = { id: "d:1:0", instance: "d", workflow: "gone@1", kind: "effect", name: "x" } as const;
  await storage.commit([
    { starts: [record], arms: [{ task: { ...task, payload: "{}", dueAt: 0, limits: [] } }] },
  ]);
  for (const now of [0, 20_000, 40_000]) {
    await storage.claim({
      holder: "x",
      now: clock.now() + now,
      leaseMs: 10_000,
      workflows: ["gone@1"],
      steps: 0,
      free: 1,
      limited: 0,
      maxCrashes: 1,
    });
  }
  expect(await keeping.deadLetters()).toHaveLength(1);
  keeping.run();
  await passed(keeping, clock);
  expect(await storage.load("d")).not.toBeNull();
  expect(await keeping.drop("d:1:0")).toBe(true);
  await passed(keeping, clock);
  expect(await storage.load("d")).toBeNull();
  await settled();
});

test("R35: stopped between two batches, it gives its turn to another at once", async () => {
  const options = { workflows: [jobs], keep: { finished: "1h" } } as const;
  const [first, second] = [await engine(options), await engine(options)];
  const working = await running(jobs);
  for (let index = 0; index < 70; index++) {
    await working.start(jobs, { id: `j${index}`, input: { id: `j${index}` } });
  }
  await settled();
  await working.stop();
  clock.advance(HOUR);
  // The pass of the second is due a minute later than that of the first, whose turn would last for three.
  first.run();
  clock.advance(60_000);
  second.run();
  clock.advance(PASS - 60_000);
  while ((await first.retention()).removed === 0) await turns(1);
  await first.stop();
  const { removed } = await first.retention();
  expect(removed).toBeLessThan(70);
  clock.advance(60_000);
  for (let pause = 0; pause < 100; pause += 1) {
    await turns(3);
    clock.advance(20);
  }
  expect((await second.retention()).removed).toBe(70 - removed);
});

describe("retention and its end", () => {
  /** A database with what is old, what is young and what lives; answers whether that is what is left. */
  async function prepared(clock: VirtualClock): Promise<{
    readonly storage: EngineStorage;
    readonly rest: () => Promise<readonly (string | undefined)[]>;
  }> {
    const storage = await sqliteStorage(":memory:");
    const engine = createEngine({ storage, workflows: [jobs, parents], clock, logger: silentLogger });
    engine.run();
    for (let index = 0; index < 40; index++) {
      await engine.start(jobs, { id: `old${index}`, input: { id: `old${index}` } });
    }
    await engine.start(parents, { id: "p", input: undefined });
    await engine.settled();
    clock.advance(2 * HOUR);
    await engine.settled();
    await engine.start(jobs, { id: "young", input: { id: "young" } });
    await engine.settled();
    await engine.stop();
    const ids = [...Array.from({ length: 40 }, (_, index) => `old${index}`), "p", "p/child", "young"];
    const rest = async () =>
      (await Promise.all(ids.map((id) => storage.load(id)))).flatMap((found) =>
        found === null ? [] : [`${found.id} ${found.status}`],
      );
    return { storage, rest };
  }

  const LEFT = ["p active", "p/child done", "young done"];

  /** The calls of a process that makes a pass and dies so, and what is left once another has gone on. */
  async function endOf(
    death: Parameters<typeof mortalProcess>[0],
  ): Promise<{ readonly calls: number; readonly left: readonly unknown[]; readonly archived: number }> {
    const clock = virtualClock();
    const { storage, rest } = await prepared(clock);
    const archived = new Set<string>();
    const archive = (instances: readonly ArchivedInstance[]): void => {
      for (const { id } of instances) archived.add(id);
    };
    const options = { workflows: [], keep: { finished: "1h" }, archive, logger: silentLogger } as const;
    const mortal = mortalProcess(death);
    const first = createEngine({ ...options, storage: mortal.within(storage), clock: mortal.timedBy(clock) });
    first.run();
    clock.advance(PASS);
    for (let turn = 0; turn < 60 && !mortal.isDead(); turn++) {
      await turns(3);
      clock.advance(20);
    }
    mortal.kill();
    // Whatever it left: no living thing is gone, and nothing is gone that was not archived.
    const left = new Set(await rest());
    for (const each of LEFT) expect(left).toContain(each);
    const gone = Array.from({ length: 40 }, (_, index) => `old${index}`).filter(
      (id) => !left.has(`${id} done`),
    );
    expect(gone.filter((id) => !archived.has(id))).toEqual([]);
    const second = createEngine({ ...options, storage, clock });
    second.run();
    await passed(second, clock);
    await second.stop();
    return { calls: mortal.calls.length, left: await rest(), archived: archived.size };
  }

  it(
    "killed at any call of a pass, the next process goes on, and nothing is lost or left",
    async () => {
      const { calls } = await endOf({ call: Infinity, moment: "before" });
      for (let call = 1; call <= calls; call += THOROUGH ? 1 : 5) {
        for (const moment of ["before", "after"] as const) {
          expect(await endOf({ call, moment })).toMatchObject({ left: LEFT, archived: 40 });
        }
      }
    },
    EXPLORING_MS,
  );

  it(
    "in random lives nothing is removed that is open, young, unarchived or known to a living parent",
    async () => {
      const chances = fc.array(fc.nat(999), { minLength: 500, maxLength: 500 });
      await fc.assert(
        fc.asyncProperty(chances, async (given) => {
          let next = 0;
          await live(() => (given[next++ % given.length] ?? 0) / 1_000);
        }),
        { numRuns: THOROUGH ? 500 : 6, endOnFailure: true },
      );
    },
    EXPLORING_MS,
  );

  async function live(random: () => number): Promise<void> {
    const clock = virtualClock();
    const database = await sqliteStorage(":memory:");
    const archived = new Set<string>();
    const removed: string[] = [];
    const storage: EngineStorage = {
      ...database,
      async commit(items: readonly AnyCommit[]) {
        const before = new Map<string, Awaited<ReturnType<typeof facts>>>();
        const facts = async (id: string) => ({
          record: await database.load(id),
          pending: await database.tasks({ order: "instance", instance: id, limit: 1 }),
          parent: id.includes("/") ? await database.load(id.slice(0, id.indexOf("/"))) : null,
        });
        for (const { removes = [] } of items) for (const { id } of removes) before.set(id, await facts(id));
        const results = await database.commit(items);
        items.forEach(({ removes = [] }, index) => {
          for (const { id } of results[index]?.ok === true ? removes : []) {
            const { record, pending, parent } = before.get(id) ?? {};
            expect(record?.status).toBe("done");
            expect(clock.now() - (record?.updatedAt ?? Infinity)).toBeGreaterThanOrEqual(HOUR);
            expect(pending).toEqual([]);
            expect(parent?.status).not.toBe("active");
            expect(archived).toContain(id);
            removed.push(id);
          }
        });
        return results;
      },
    };
    const archive = (instances: readonly ArchivedInstance[]): void => {
      if (random() < 0.2) throw new Error("not now");
      for (const { id } of instances) archived.add(id);
    };
    const options = { storage, clock, logger: silentLogger, keep: { finished: "1h" }, archive } as const;
    const flaky = job(async () => {
      if (random() < 0.3) throw new Error("try again");
      return "work";
    });
    const engines = [1, 2].map(() => createEngine({ ...options, workflows: [flaky, parents] }));
    for (const engine of engines) engine.run();
    const [engine] = engines as [Engine<unknown>];
    for (let step = 0; step < 60; step++) {
      const chance = random();
      const id = `${step}`;
      if (chance < 0.3) await engine.start(flaky, { id: `j${id}`, input: { id } });
      else if (chance < 0.6) await engine.start(parents, { id: `p${id}`, input: undefined });
      else if (chance < 0.8) await engine.send(parents, `p${Math.floor(random() * step)}`, { type: "CLOSE" });
      clock.advance(Math.floor(random() * 2 * PASS));
      for (let turn = 0; turn < 5; turn++) {
        await turns(3);
        clock.advance(20);
      }
    }
    for (const each of engines) await each.stop();
    expect(new Set(removed).size).toBe(removed.length);
  }
});

it("bad keeping is refused with its path and what would be right", async () => {
  const storage = await sqliteStorage(":memory:");
  const create = (options: object) => () => createEngine({ storage, workflows: [], ...options });
  for (const finished of ["90", "90 d", "d", "1.5h", 1.5, "59m", -1, null, "100000d"]) {
    expect(create({ keep: { finished } })).toThrow(
      'keep.finished: expected milliseconds, or such as "90d", "12h" or "30m": from 1h to 36500d',
    );
  }
  expect(create({ keep: { started: "1d" } })).toThrow("keep: ");
  expect(create({ archive() {} })).toThrow("archive: nothing is archived without keep");
  expect(create({ keep: { finished: "1h" }, archive: "s3" })).toThrow("archive: expected a function");
});
