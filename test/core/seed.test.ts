/** One seed for all random tests of a run: it can be given, and a run without one draws its own. */
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { chooseSeed, seedOfRun } from "../kit/seed.ts";

afterEach(() => vi.unstubAllEnvs());

test("every property of this run draws from the seed in the environment", () => {
  const drawn = fc.sample(fc.nat(), 20);
  expect(drawn).toEqual(fc.sample(fc.nat(), { numRuns: 20, seed: seedOfRun() }));
  expect(drawn).not.toEqual(fc.sample(fc.nat(), { numRuns: 20, seed: seedOfRun() + 1 }));
});

test("a given seed is kept, and a run without one draws another each time", () => {
  vi.stubEnv("PAYSTATE_SEED", "17");
  expect(chooseSeed()).toBe(17);
  expect(seedOfRun()).toBe(17);
  const drawn = Array.from({ length: 3 }, () => {
    vi.stubEnv("PAYSTATE_SEED", undefined);
    return chooseSeed();
  });
  expect(new Set(drawn).size).toBeGreaterThan(1);
});

test.each(["", "abc", "-1", "1.5", "2147483648"])("the seed %j is refused by name", (given) => {
  vi.stubEnv("PAYSTATE_SEED", given);
  expect(seedOfRun).toThrow("PAYSTATE_SEED must be a whole number from 0 to 2147483647");
});
