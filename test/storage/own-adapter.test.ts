/** What the page on storage says of writing an adapter. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as parts from "paystate/storage";

const storage = join(import.meta.dirname, "../../storage");
const page = readFileSync(join(storage, "README.md"), "utf8");

test("the page says how many lines the adapter in memory takes, and in how many files", () => {
  const files = ["memory.ts", ...readdirSync(join(storage, "memory")).map((name) => `memory/${name}`)];
  const lines = files
    .map((name) => readFileSync(join(storage, name), "utf8").split("\n").length - 1)
    .reduce((sum, each) => sum + each);
  expect(files).toHaveLength(5);
  expect(page).toContain(`about ${Math.round(lines / 10) * 10} lines in five files`);
});

test("the page names everything that paystate/storage has for an adapter", () => {
  const table = page.slice(page.indexOf("| from `paystate/storage`"));
  const named = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| (`.*?) +\|/gm)];
  const names = named.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
  expect(names.toSorted()).toEqual(Object.keys(parts).toSorted());
});
