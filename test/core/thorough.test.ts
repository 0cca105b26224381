/** How much a run explores is decided by the mode of the command, and each project of the tests has to be given it. */
import { expect, test } from "vitest";
import config from "../vitest.config.ts";

test.each(["test", "ci", "long"])("a run in mode %s runs every project of the tests in that mode", (mode) => {
  const { projects = [] } = config({ mode, command: "serve" }).test ?? {};
  expect(projects.length).toBeGreaterThan(0);
  expect(projects).toEqual(projects.map(() => expect.objectContaining({ mode }) as unknown));
});
