/** The data folder of `paystate dev`: its secrets are written where nobody else can read or redirect them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as base } from "vitest";
import { openDataFolder } from "../../src/cli/dev-data.ts";

const SETUP = { masterSecret: "7".repeat(64) };

const test = base.extend("place", ({}, { onCleanup }) => {
  const place = mkdtempSync(join(tmpdir(), "paystate-data-"));
  onCleanup(() => rmSync(place, { recursive: true }));
  return place;
});

test.for(["dev.json", "dev.json.next", "payments.db", "chain.jsonl", "orders.jsonl", "lock"])(
  "U14: a link planted as %s in the data folder is refused by name and not followed",
  (name, { place }) => {
    const [folder, target] = [join(place, "data"), join(place, "target")];
    mkdirSync(folder);
    writeFileSync(target, "untouched");
    symlinkSync(target, join(folder, name));
    expect(() => openDataFolder(folder)).toThrow(`${join(folder, name)} is a link: remove it`);
    expect(readFileSync(target, "utf8")).toBe("untouched");
  },
);

test("U14: a data folder that is a link is refused", ({ place }) => {
  const folder = join(place, "data");
  symlinkSync(place, folder);
  expect(() => openDataFolder(folder)).toThrow(
    `${folder} is a link: remove it, or choose another data folder`,
  );
});

test("U14: a link planted after the look is replaced by the setup, which only its owner reads", ({
  place,
}) => {
  const target = join(place, "target");
  writeFileSync(target, "untouched");
  const folder = join(place, "data");
  const data = openDataFolder(folder);
  for (const name of ["dev.json", "dev.json.next"]) symlinkSync(target, join(folder, name));
  data.writeSetup(SETUP);
  expect(readFileSync(target, "utf8")).toBe("untouched");
  expect(statSync(join(folder, "dev.json")).mode & 0o777).toBe(0o600);
  expect(openDataFolder(folder).readSetup()).toEqual(SETUP);
});
