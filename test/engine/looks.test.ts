/** Looks at watches: each within its time, told stays told, fair to every watch, and honest about what it missed. */
// modules: watching
import { expect } from "vitest";
import type { PollContext, Watcher, WatchRecord } from "paystate/engine";
import { gate, turns, until } from "../kit/engine-world.ts";
import type { VirtualClock } from "../kit/virtual-clock.ts";
import { harbour } from "./harbour.ts";
import { engineTest } from "../kit/engine-test.ts";

const LOOK_MS = 750;
const seen = (instance: string): { instance: string; event: { type: "SEEN" } } => ({
  instance,
  event: { type: "SEEN" },
});
const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `s${String(index).padStart(2, "0")}`);

/** Lets time pass in small steps, and everything happen that follows from each. */
async function live(clock: VirtualClock, ms: number, step = 50): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    clock.advance(step);
    await turns(12);
  }
}

const { test, engine, clock, open, awaitsOutside } = engineTest("looks");

type Looker = Partial<Watcher> & Pick<Watcher, "poll">;

/** An engine with ships in its harbour that looks for them in this way, at most every second where it says nothing. */
async function looking(watcher: Looker, ships: readonly string[], more = {}) {
  const horizon = { intervalMs: 1_000, ...watcher };
  const one = await engine({ workflows: [harbour], watchers: { horizon }, ...more });
  for (const ship of ships) await one.start(harbour, { id: ship, input: { ship } });
  one.run();
  return one;
}
const allSeen = (watches: readonly WatchRecord[]) => watches.map(({ instance }) => seen(instance));

test("a look that is cut off has told what it told, finishes what is on its way, and the next goes on with the rest", async () => {
  const asked: string[] = [];
  /** One answer every 100 ms, told as it comes. */
  const slow: Watcher = {
    intervalMs: 60_000,
    poll: async (watches, look) => {
      const left = [...watches];
      for (let watch = left.shift(); watch !== undefined; watch = left.shift()) {
        asked.push(watch.key);
        await clock.sleep(100);
        await look.tell([seen(watch.instance)]);
        if (look.signal.aborted) break;
      }
      look.missed(left);
      return [];
    },
  };
  const ships = names(20);
  const { read } = await looking(slow, ships);
  await until(() => asked.length === 1);
  await live(clock, LOOK_MS);
  expect(await read("s06")).toMatchObject({ value: "arrived" });
  expect(await read("s07")).toMatchObject({ value: "expecting" });
  await live(clock, 2_000);
  for (const ship of ships) expect(await read(ship)).toMatchObject({ value: "arrived" });
  // In their order, and each once.
  expect(asked).toEqual(ships);
});

test("a batch whose answer does not come keeps no other from its turn, nor new watches from theirs", async () => {
  const hold = gate();
  const turnsOf = new Map<string, number>();
  const watcher: Looker = {
    batchSize: 2,
    poll: async (watches) => {
      for (const { key } of watches) turnsOf.set(key, (turnsOf.get(key) ?? 0) + 1);
      if (watches.some(({ key }) => key === "s00")) await hold.opened;
      return [];
    },
  };
  const ships = names(40);
  const { start, stop } = await looking(watcher, ships);
  await until(() => turnsOf.size === 40);
  await live(clock, 10_000);
  await start(harbour, { id: "new", input: { ship: "new" } });
  await live(clock, 1_100);
  expect(turnsOf.get("new")).toBe(1);
  const [stuck, besideIt, ...others] = ships;
  expect([stuck, besideIt].map((ship) => turnsOf.get(ship ?? ""))).toEqual([1, 1]);
  for (const ship of others) expect(turnsOf.get(ship)).toBeGreaterThanOrEqual(10);
  hold.open();
  await live(clock, 2_000);
  expect(turnsOf.get("s00")).toBeGreaterThanOrEqual(2);
  await stop();
  awaitsOutside(...ships, "new");
});

test("where more is due than looks can take, nobody has a second turn before everybody has had a first", async () => {
  const order: string[] = [];
  const watcher: Watcher = {
    intervalMs: 100,
    batchSize: 1,
    poll: async ([watch]) => {
      order.push(watch?.key ?? "");
      await clock.sleep(200);
      return [];
    },
  };
  const ships = names(30);
  const { stop } = await looking(watcher, ships);
  await until(() => order.length > 0);
  await live(clock, 8_000);
  expect(order.length).toBeGreaterThanOrEqual(4 * ships.length);
  for (let round = 0; round < 4; round++) {
    const turn = order.slice(round * ships.length, (round + 1) * ships.length);
    expect(turn.toSorted()).toEqual(ships);
  }
  await stop({ timeoutMs: 0 });
  awaitsOutside(...ships);
});

test("stop() tells looks that their time is over, waits for what is on its way, and it is told", async () => {
  const answer = gate();
  const looks: PollContext[] = [];
  const watcher: Looker = {
    poll: async (watches, look) => {
      looks.push(look);
      await answer.opened;
      await look.tell(allSeen(watches));
      return [];
    },
  };
  const { read, stop } = await looking(watcher, ["s"]);
  await until(() => looks.length === 1);
  const stopped = stop();
  expect(looks[0]?.signal.aborted).toBe(true);
  await turns(5);
  answer.open();
  await stopped;
  expect(await read("s")).toMatchObject({ value: "arrived" });
  expect(looks).toHaveLength(1);
});

test("what could not be handed over is answered to the look, and told when it can be", async () => {
  let isBroken = true;
  const failing = await open((real) => ({
    async commit(items: Parameters<typeof real.commit>[0]) {
      if (isBroken && items.some(({ step }) => step !== undefined)) throw new Error("disk full");
      return real.commit(items);
    },
  }));
  const untold: number[] = [];
  const watcher: Looker = {
    poll: async (watches, look) => {
      untold.push((await look.tell(allSeen(watches))).length);
      return [];
    },
  };
  const { read } = await looking(watcher, ["s"], { storage: failing });
  await until(() => untold.length === 1);
  isBroken = false;
  await live(clock, 1_100);
  expect(untold).toEqual([1, 0]);
  expect(await read("s")).toMatchObject({ value: "arrived" });
});

test("L9: a watcher that throws in place of rejecting has found nothing out, and ends no process", async () => {
  const stray: unknown[] = [];
  const onStray = (reason: unknown): void => void stray.push(reason);
  process.on("unhandledRejection", onStray);
  let polls = 0;
  const hasty: Looker = {
    poll: () => {
      polls += 1;
      throw new Error("no horizon");
    },
  };
  await looking(hasty, ["s"]);
  await until(() => polls > 0);
  await live(clock, 61_000, 1_000);
  process.off("unhandledRejection", onStray);
  expect(stray).toEqual([]);
  expect(polls).toBeGreaterThan(50);
  awaitsOutside("s");
});
