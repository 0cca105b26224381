/** The site leads to the pages that the first page leads to. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { IS_WHOLE } from "../kit/modes.ts";
import { DOORS, INDEX, PAGES_FOR_USERS, PAGES_OF_SITE } from "../site/doors.ts";
import { linksOf, ROOT, textOf } from "./page.ts";

// The page of a module went with it.
test.runIf(IS_WHOLE)(
  "each page that the first page names is in the sidebar of the site, and each page there exists",
  () => {
    const named = linksOf("README.md").flatMap((link) => link.split("#")[0] ?? []);
    const pages = new Set(named.filter((page) => page.endsWith(".md")));
    expect([...pages].filter((page) => !PAGES_OF_SITE.includes(page))).toEqual([]);
    expect(PAGES_OF_SITE.filter((page) => !existsSync(`${ROOT}${page}`))).toEqual([]);
  },
);

test("the doors of the site begin with what is read first", () => {
  const [charts, payments, operate] = DOORS.map(({ items }) => items[0]?.link);
  expect([charts, payments, operate]).toEqual([
    "/src/guide/durable-chart",
    "/src/guide/take-a-payment",
    "/examples/deploy/",
  ]);
});

test.runIf(IS_WHOLE)(
  "users have eighteen pages at most, of 220 kB, each with a reader and a question",
  () => {
    expect(PAGES_FOR_USERS.length).toBeLessThanOrEqual(18);
    const bytes = PAGES_FOR_USERS.map((page) => Buffer.byteLength(textOf(page)));
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(220_000);
    for (const { reader, question } of INDEX) {
      expect(reader).not.toBe("");
      expect(question).toMatch(/\?$/);
    }
  },
);
