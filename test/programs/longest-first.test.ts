/** The list of the longest test files is a list of files. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { IS_WHOLE } from "../kit/modes.ts";
import { LONGEST } from "./longest-first.ts";

// The tests of a module went with it.
test.runIf(IS_WHOLE)("every file that is started early is there, and is named once", () => {
  const root = new URL("../../", import.meta.url);
  expect(LONGEST.filter((path) => !existsSync(fileURLToPath(new URL(path, root))))).toEqual([]);
  expect(new Set(LONGEST).size).toBe(LONGEST.length);
});
