/** The list of edge cases and the tests that are named by them. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { IS_WHOLE } from "../kit/modes.ts";
import { filesBelow, ROOT, textOf } from "./page.ts";

const LISTED = [...textOf("test/edge-cases.md").matchAll(/^- \*\*([A-Z]\d+)\*\* \S/gm)].map(
  ([, id = ""]) => id,
);

/** Cases that no test names yet. Take an id out when its test comes; add none. */
const WITHOUT_TEST: ReadonlySet<string> = new Set([]);

/** The ids that tests and their comments name, such as W9 in "W9: dropped by every node". */
const NAMED = new Set(
  filesBelow("test")
    .filter((path) => path.endsWith(".ts") && path !== "readme/edge-cases.test.ts")
    .flatMap(
      (path) =>
        readFileSync(`${ROOT}test/${path}`, "utf8").match(/\b[EWPHMDRLNUFQC][1-9]\d?\b(?=[:,;.) ])/g) ?? [],
    ),
);

test("each case stands in the list once", () => {
  expect(new Set(LISTED).size).toBe(LISTED.length);
});

test("each id that a test names stands in the list", () => {
  const listed = new Set(LISTED);
  expect([...NAMED].filter((id) => !listed.has(id))).toEqual([]);
});

// The tests of a module went with it.
test.runIf(IS_WHOLE)("each case is named by a test, but for those that are known to wait for one", () => {
  const missing = LISTED.filter((id) => !NAMED.has(id) && !WITHOUT_TEST.has(id));
  expect(missing).toEqual([]);
});
