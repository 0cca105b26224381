/** Loops beside tasks: they rest by the clock, are woken, fail without an end, and stop behind the round in hand. */
import { expect, test } from "vitest";
import { Loop } from "../../src/engine/kernel/loop.ts";
import { turns } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

function looping(round: (signal: AbortSignal) => Promise<number | void>) {
  const clock = virtualClock(0);
  const errors: string[] = [];
  const none = (): void => {};
  const log = {
    debug: none,
    info: none,
    warn: none,
    error: (_: object, said: string) => void errors.push(said),
  };
  const loop = new Loop({ clock, log, round, pauseMs: () => 1_000, failure: "it failed" });
  const pass = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left -= 1) {
      await turns(3);
      clock.advance(1_000);
    }
    await turns(3);
  };
  return { clock, errors, loop, pass };
}

test("a loop whose rounds fail goes on: that is told at once, each minute, and at once behind a success", async () => {
  let rounds = 0;
  const { errors, loop, pass } = looping(() => {
    rounds += 1;
    return rounds === 70 ? Promise.resolve() : Promise.reject(new Error("away"));
  });
  loop.run();
  await pass(59);
  expect(errors).toEqual(["it failed"]);
  await pass(9);
  expect(errors).toHaveLength(2);
  await pass(3);
  expect(errors).toHaveLength(3);
  await loop.stop();
  const before = rounds;
  await pass(5);
  expect(rounds).toBe(before);
});

test("a round that throws at once ends no loop, and of what a stop cuts off nothing is told", async () => {
  let cut: (error: Error) => void = () => {};
  let rounds = 0;
  const { errors, loop, pass } = looping(() => {
    rounds += 1;
    if (rounds === 1) throw new Error("at once");
    return new Promise((_, reject) => (cut = reject));
  });
  loop.run();
  await pass(2);
  expect([rounds, errors]).toEqual([2, ["it failed"]]);
  const stopped = loop.stop();
  cut(new Error("cut off"));
  await stopped;
  expect(errors).toHaveLength(1);
});

test("a loop that is woken in a round begins another at once, and none twice at the same time", async () => {
  const ends: (() => void)[] = [];
  const { loop, pass } = looping(() => new Promise((resolve) => ends.push(resolve)));
  loop.run();
  loop.wake();
  await turns(3);
  expect(ends).toHaveLength(1);
  loop.wake();
  ends[0]?.();
  await turns(3);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await turns(3);
  expect(ends).toHaveLength(2);
  await pass(1);
  expect(ends).toHaveLength(3);
  ends[2]?.();
  await loop.stop();
});

test("a loop that runs again behind a stop waits for the round in hand, whose stop waits no longer than it was told", async () => {
  const ends: (() => void)[] = [];
  const { loop, clock, pass } = looping(() => new Promise((resolve) => ends.push(resolve)));
  loop.run();
  await turns(3);
  const stopped = loop.stop(500);
  await turns(3);
  clock.advance(500);
  await stopped;
  loop.run();
  await pass(3);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await turns(3);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await loop.stop();
});
