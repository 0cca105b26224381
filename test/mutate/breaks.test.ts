/** The list of breaks is true: each can be made in the sources as they are now. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { applyBreak } from "./apply-break.ts";
import { ALL_BREAKS } from "./breaks.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

test.each(ALL_BREAKS)("$property: can still be broken in $file", (each) => {
  const source = readFileSync(join(ROOT, each.file), "utf8");
  const broken = applyBreak(source, each);
  expect(
    broken,
    `the text to replace must occur once in ${each.file}: change the break with it`,
  ).not.toBeNull();
  expect(broken).not.toBe(source);
  const missing = each.tests.filter((file) => !existsSync(join(ROOT, "test", file)));
  expect(missing, "tests to run first that do not exist").toEqual([]);
  expect(each.tests.length).toBeGreaterThan(0);
});

test("each property is listed once", () => {
  const properties = ALL_BREAKS.map(({ property }) => property);
  expect(new Set(properties).size).toBe(properties.length);
});

test("a text that occurs twice, or not at all, breaks nothing", () => {
  const [each] = ALL_BREAKS;
  if (each === undefined) throw new Error("there are breaks");
  const broken = { ...each, text: "a + b", replacement: "a - b" };
  expect(applyBreak("x = a + b;", broken)).toBe("x = a - b;");
  expect(applyBreak("x = a + b; y = a + b;", broken)).toBeNull();
  expect(applyBreak("x = 1;", broken)).toBeNull();
});
