/** How long a clock that was off is not gone by, and by which time things get old meanwhile. */
import { expect, test } from "vitest";
import { agingTime, contradict, offBy } from "../../src/core/clock-trust.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test("D35: a clock that jumped by a minute is not trusted for an hour after the last jump, and things get old as if it had not been put on", () => {
  const clock = virtualClock();
  expect(offBy(clock)).toBeNull();
  clock.advance(30 * HOUR);
  clock.put(MINUTE - 1);
  expect(offBy(clock)).toBeNull();
  expect(agingTime(clock)).toBe(clock.now());
  clock.put(24 * HOUR);
  expect(offBy(clock)).toBe(24 * HOUR);
  clock.advance(HOUR / 2);
  clock.put(-2 * MINUTE);
  expect(agingTime(clock)).toBe(clock.now() - 24 * HOUR + 2 * MINUTE);
  expect(agingTime(clock, 1_000)).toBe(1_000 - 24 * HOUR + 2 * MINUTE);
  clock.advance(HOUR - 1);
  expect(offBy(clock)).toBe(24 * HOUR - 2 * MINUTE);
  clock.advance(1);
  expect(offBy(clock)).toBeNull();
  expect(agingTime(clock)).toBe(clock.now());
  // By a clock that was put back nothing gets old sooner.
  clock.put(-HOUR);
  expect(offBy(clock)).toBe(-HOUR);
  expect(agingTime(clock)).toBe(clock.now());
});

test("D35: a clock that another one contradicts is not trusted for an hour after they agree, and one that was put right is not off", () => {
  const clock = virtualClock();
  contradict(clock, 24 * HOUR);
  expect(agingTime(clock)).toBe(clock.now() - 24 * HOUR);
  clock.put(-24 * HOUR);
  expect(offBy(clock)).toBe(0);
  expect(agingTime(clock)).toBe(clock.now());
  clock.advance(HOUR);
  expect(offBy(clock)).toBeNull();
});
