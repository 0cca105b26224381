/** The examples of charts, run as a reader would run them, and killed where they say that they survive it. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ROOT } from "../readme/page.ts";
import { endPrograms, startProgram, type RunningProgram } from "../readme/programs.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let folder: string;
eachInFolder((made) => {
  folder = made;
});
afterAll(endPrograms);

function example(name: string): RunningProgram {
  const args = ["--import", "tsx", `examples/${name}/main.ts`, join(folder, "example.db")];
  return startProgram(process.execPath, args, { cwd: ROOT });
}

test("a child for each item is packed, and started again the order is done already", async () => {
  const program = example("child-per-item");
  expect(await program.ended, program.output()).toBe(0);
  const lines = program.output().trim().split("\n");
  expect(lines.slice(0, 3)).toEqual(["lamp", "bookshelf", "rug"].map((item) => `${item} is order-1/${item}`));
  expect(lines.slice(3, 6).toSorted()).toEqual(
    ["bookshelf", "lamp", "rug"].map((item) => `${item} is in the box`),
  );
  expect(lines.at(-1)).toBe("sent: bookshelf, lamp, rug");
  const again = example("child-per-item");
  expect(await again.ended, again.output()).toBe(0);
  expect(again.output()).not.toContain("is in the box");
}, 60_000);
