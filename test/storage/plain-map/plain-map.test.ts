/** What the page on storage says is enough to write an adapter. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as parts from "paystate/storage";
import { storageContract } from "paystate/testing";
import { plainMapStorage } from "./storage.ts";

describe("an adapter over plain Maps passes the storage contract", () => {
  test.each(storageContract)("$name", ({ run }) =>
    run(async () => {
      const storage = plainMapStorage();
      return { open: async () => storage, destroy: async () => {} };
    }),
  );
});

const page = readFileSync(new URL("../../../storage/README.md", import.meta.url), "utf8");

test("the page says how many lines such an adapter takes, and in how many files", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => !name.endsWith(".test.ts"));
  const lines = files
    .map((name) => readFileSync(`${import.meta.dirname}/${name}`, "utf8").split("\n").length - 1)
    .reduce((sum, each) => sum + each);
  expect(files).toHaveLength(4);
  expect(page).toContain(`about ${Math.round(lines / 10) * 10} lines in four files`);
});

test("the page names everything that paystate/storage has for an adapter", () => {
  const table = page.slice(page.indexOf("| from `paystate/storage`"));
  const named = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| (`.*?) +\|/gm)];
  const names = named.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
  expect(names.toSorted()).toEqual(Object.keys(parts).toSorted());
});
