/** How much a run explores is decided by the mode of the command, and each project of the tests has to be given it. */
import { expect, test } from "vitest";
import { QUICK, sampled } from "../kit/thorough.ts";
import config from "../vitest.config.ts";

test.each(["test", "ci", "long"])("a run in mode %s runs every project of the tests in that mode", (mode) => {
  const { projects = [] } = config({ mode, command: "serve" }).test ?? {};
  expect(projects.length).toBeGreaterThan(0);
  expect(projects).toEqual(projects.map(() => expect.objectContaining({ mode }) as unknown));
});

test("a quick run takes one of the like kinds, every other run takes all; one run draws the same one each time", () => {
  const kinds = ["memory", "SQLite", "PostgreSQL"];
  const taken = sampled(kinds, "what it is about");
  expect(taken).toHaveLength(QUICK ? 1 : kinds.length);
  expect(kinds).toEqual(expect.arrayContaining([...taken]));
  expect(sampled(kinds, "what it is about")).toEqual(taken);
  const drawn = Array.from({ length: 100 }, (_, index) => sampled(kinds, `test ${index}`)).flat();
  expect(new Set(drawn)).toEqual(new Set(kinds));
});
