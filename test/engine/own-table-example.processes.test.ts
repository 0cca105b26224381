/** The example of a host's own table, run as a reader would run it; its file holds no table of payments. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { eachInFolder } from "../kit/each-in-folder.ts";

const main = fileURLToPath(new URL("../../examples/own-table/main.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

let folder: string;
eachInFolder((made) => {
  folder = made;
});

test("a host commits its own row with a step and reads it back, and its file has no payment table", async () => {
  const path = join(folder, "parcels.db");
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", main, path], {
    cwd: root,
  });
  expect(stdout.trim().split("\n")).toEqual([
    `parcel-1 is in the van, seen 2 times, weighs ${2n ** 64n}`,
    expect.stringMatching(/^ann waits for 2 parcels: .*parcel-1 \(van\)/),
  ]);
  const database = new Database(path, { readonly: true });
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' order by name")
    .pluck();
  expect(tables.all()).toEqual([
    ...["parcels", "paystateCharts", "paystateHistory", "paystateInstances", "paystateLeases"],
    ...["paystateLimits"],
    "paystateSchedules", // modules: schedules
    ...["paystateSchema", "paystateSearch"],
    "paystateStarts", // modules: rates
    ...["paystateTables", "paystateTasks", "paystateTotals", "paystateWatches"],
  ]);
  database.close();
});
