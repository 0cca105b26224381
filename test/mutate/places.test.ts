/** Which places are found in a source, and what becomes of each. */
import { expect, test } from "vitest";
import { placesIn } from "./places.ts";

/** The source with each of its places broken, one after the other. */
const brokenEach = (source: string): readonly string[] =>
  placesIn("x.ts", source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

test.each([
  ["if (a < b) c;", ["if (a <= b) c;"]],
  ["a !== b", ["a === b"]],
  ["a && b > c", ["a", "b > c", "a && b >= c"]],
  ["a || f(b)", ["a", "f(b)"]],
  ["[a, ...b]", ["[...b]", "[a, ]"]],
  ["all.every(is)", ["all.some(is)"]],
  ["all.some((each) => each)", ["all.every((each) => each)"]],
  ["const x = await f();", ["const x = f();"]],
  ["// a < b\nconst every: A | B = 'a && b';", []],
])("%s is broken in each of its places", (source, broken) => {
  expect(brokenEach(source)).toEqual(broken);
});

test("a place says on which line it is, and what is changed there", () => {
  expect(placesIn("src/x.ts", "one();\n\nreturned(a >= b);")).toMatchObject([
    { file: "src/x.ts", line: 3, change: "`a >= b` compares by >" },
  ]);
});
