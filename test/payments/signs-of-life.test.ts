/** M32: the signs of life by which a database knows when no process was at work on it. */
import { describe, expect, onTestFinished, test } from "vitest";
import { uncheckedTime, LifeSignLoop } from "../../src/payments/life-sign-loop.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { silentLogger } from "../../src/runtime.ts";
import { unasked } from "../../src/solana/agree.ts";
import { adapters } from "../kit/adapters.ts";
import { drawn } from "../kit/thorough.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";

const MINUTE = 60_000;

describe.each(drawn(adapters, "signs of life"))("on $name", ({ make }) => {
  interface Watched {
    readonly clock: VirtualClock;
    readonly storage: PaymentStorage;
    /** Of all processes. */
    readonly commits: () => number;
    /** How often all lives were read at once. */
    readonly readings: () => number;
    /** How far the storage's clock is ahead, and the time that the chain tells; null while it is not known. */
    readonly put: { aheadMs: number; chain: number | null };
    /** One whose own clock is so far ahead of the storage's. */
    readonly process: (aheadMs?: number) => LifeSignLoop;
    /** So many minutes, one after the other. */
    readonly pass: (minutes: number) => Promise<void>;
  }

  async function open(): Promise<Watched> {
    const database = await make();
    const storage = await database.open();
    const clock = virtualClock();
    let [commits, readings] = [0, 0];
    const put: Watched["put"] = { aheadMs: 0, chain: null };
    const counted: PaymentStorage = {
      ...storage,
      // As a database with a clock of its own does.
      time: async () => clock.now() + put.aheadMs,
      lives: () => {
        readings += 1;
        return storage.lives();
      },
      commit: (items) => {
        commits += 1;
        return storage.commit(items);
      },
    };
    const processes: LifeSignLoop[] = [];
    onTestFinished(async () => {
      await Promise.all(processes.map((each) => each.stop()));
      await storage.close();
      await database.destroy();
    });
    return {
      clock,
      storage,
      put,
      commits: () => commits,
      readings: () => readings,
      process(aheadMs = 0) {
        const own = { ...clock, now: () => clock.now() + aheadMs };
        const made = new LifeSignLoop({
          storage: counted,
          ledger: { time: async () => (put.chain === null ? null : unasked(put.chain)) },
          clock: own,
          log: silentLogger,
        });
        processes.push(made);
        return made;
      },
      async pass(minutes) {
        for (let minute = 0; minute < minutes; minute++) {
          clock.advance(MINUTE);
          // What each of them reads and writes takes some turns.
          await expect.poll(async () => (await storage.lives()).at(-1)?.until).toBe(clock.now());
        }
      },
    };
  }

  const missed = async ({ storage }: Watched, createdAt = 0) =>
    uncheckedTime(await storage.lives(), { createdAt, checkedTo: null });

  test("M32: a restart that takes two minutes is no gap, one that takes five is", async () => {
    const world = await open();
    const only = world.process();
    await only.start();
    await world.pass(3);
    await only.stop();
    world.clock.advance(2 * MINUTE);
    await only.start();
    expect(await missed(world)).toBeNull();
    const last = world.clock.now();
    await only.stop();
    world.clock.advance(5 * MINUTE);
    await only.start();
    expect(await missed(world)).toEqual({ from: last - 2 * MINUTE, to: world.clock.now() });
  });

  test("M32: while one process is at work, another one that starts comes after no gap", async () => {
    const world = await open();
    await world.process().start();
    const other = world.process();
    await other.start();
    await other.stop();
    await world.pass(6);
    await other.start();
    expect(await missed(world)).toBeNull();
    expect(await world.storage.lives()).toHaveLength(1);
  });

  test("D35, M32: a life that began by a clock that was put on an hour begins now as soon as clock and chain tell alike, and its gap stays", async () => {
    const world = await open();
    const { clock, put, storage } = world;
    const only = world.process();
    await only.start();
    await only.stop();
    const last = clock.now();
    clock.advance(5 * MINUTE);
    put.aheadMs = 60 * MINUTE;
    await only.start();
    expect(await missed(world), "which no chain can show").toMatchObject({ to: last + 65 * MINUTE });
    put.chain = clock.now();
    clock.advance(MINUTE);
    await only.stop();
    await only.start();
    expect((await storage.lives()).at(-1)?.until, "contradicted").toBe(last + 65 * MINUTE);
    put.aheadMs = 0;
    await only.stop();
    put.chain = clock.now();
    await only.start();
    expect(await missed(world)).toEqual({ from: last - 2 * MINUTE, to: clock.now() });
    expect(await storage.lives()).toHaveLength(2);
    put.chain = null;
    await world.pass(3);
    expect(await storage.lives()).toHaveLength(2);
  });

  test("D35, M32: a process whose clock was put on while it worked gives its signs by the time that has come, and begins no life", async () => {
    const world = await open();
    const { clock, put, storage } = world;
    await world.process().start();
    put.aheadMs = 60 * MINUTE;
    clock.advance(MINUTE);
    await expect.poll(async () => (await storage.lives()).at(-1)?.until).toBe(clock.now() + 60 * MINUTE);
    put.aheadMs = 0;
    put.chain = clock.now() + MINUTE;
    await world.pass(1);
    put.chain = null;
    await world.pass(5);
    expect(await storage.lives()).toHaveLength(1);
    expect(await missed(world)).toBeNull();
  });

  test("M32: processes that start at once after a gap know of one", async () => {
    const world = await open();
    const both = [world.process(), world.process()];
    await both[0]?.start();
    await both[0]?.stop();
    const last = world.clock.now();
    world.clock.advance(5 * MINUTE);
    await Promise.all(both.map((each) => each.start()));
    await world.pass(3);
    expect(await missed(world)).toEqual({ from: last - 2 * MINUTE, to: last + 5 * MINUTE });
    expect(await world.storage.lives()).toHaveLength(2);
  });

  test("M32: a process whose clock is ten minutes ahead or behind begins no life, and ends no gap", async () => {
    const world = await open();
    await world.process().start();
    await world.process(10 * MINUTE).start();
    await world.process(-10 * MINUTE).start();
    await world.pass(3);
    expect(await world.storage.lives()).toMatchObject([{ until: world.clock.now() }]);
  });

  test("M32: a sign in the life that goes on reads that life alone", async () => {
    const world = await open();
    const only = world.process();
    await only.start();
    await only.stop();
    world.clock.advance(5 * MINUTE);
    await only.start();
    const readings = world.readings();
    await world.pass(10);
    expect(world.readings()).toBe(readings);
  });

  test("M32: of 200 lives the oldest two gaps become one with the next life, and all others stay", async () => {
    const world = await open();
    const { storage, clock } = world;
    for (let life = 0; life < 202; life++) {
      const [since, until] = [clock.now(), clock.now() + MINUTE];
      await storage.commit([
        { writes: [{ table: "lives", insert: { id: `life ${life}`, version: 1, since, until } }] },
      ]);
      clock.advance(10 * MINUTE);
    }
    const before = await storage.lives();
    await world.process().start();
    const after = await storage.lives();
    expect(after.slice(0, -1)).toEqual([before[0], ...before.slice(4)]);
    expect(after).toHaveLength(200);
    // What was made before all gaps is checked from the same moment as before.
    expect(uncheckedTime(after, { createdAt: 0, checkedTo: null })?.from).toBe(
      uncheckedTime(before, { createdAt: 0, checkedTo: null })?.from,
    );
  });

  test("M32: three idle processes commit once a minute together", async () => {
    const world = await open();
    for (let count = 0; count < 3; count++) await world.process().start();
    const before = world.commits();
    await world.pass(1);
    await world.pass(9);
    // Of those that come at the same moment one is carried out; the others are refused.
    expect(world.commits() - before).toBeLessThanOrEqual(3 * 10);
    expect((await world.storage.lives())[0]?.version).toBe(11);
  });

  test("M32: a database that an older copy replaces while a process is at work has a gap", async () => {
    const world = await open();
    await world.process().start();
    await world.pass(10);
    const [life] = await world.storage.lives();
    const old = world.clock.now() - 8 * MINUTE;
    await world.storage.commit([{ writes: [{ table: "lives", id: life?.id ?? "", set: { until: old } }] }]);
    await world.pass(1);
    expect(await missed(world)).toEqual({ from: old - 2 * MINUTE, to: world.clock.now() });
  });
});

describe("the time that an address is checked for", () => {
  const lives = [
    { id: "1", version: 1, since: 0, until: 10 * MINUTE },
    { id: "2", version: 1, since: 20 * MINUTE, until: 30 * MINUTE },
    { id: "3", version: 1, since: 60 * MINUTE, until: 70 * MINUTE },
  ];
  test.each([
    ["begins at the oldest gap", 0, null, { from: 8 * MINUTE, to: 60 * MINUTE }],
    ["begins at its creation where that was later", 9 * MINUTE, null, { from: 9 * MINUTE, to: 60 * MINUTE }],
    ["leaves out gaps before its creation", 25 * MINUTE, null, { from: 28 * MINUTE, to: 60 * MINUTE }],
    ["leaves out gaps that it was checked for", 0, 20 * MINUTE, { from: 28 * MINUTE, to: 60 * MINUTE }],
    ["is none where it was checked for all", 0, 60 * MINUTE, null],
    ["is none where it was created after all", 61 * MINUTE, null, null],
  ])("M32: %s", (_, createdAt, checkedTo, time) => {
    expect(uncheckedTime(lives, { createdAt, checkedTo })).toEqual(time);
  });
});
