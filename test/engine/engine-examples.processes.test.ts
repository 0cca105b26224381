/** The examples of charts, run as a reader would run them, and killed where they say that they survive it. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { patterns } from "../../examples/patterns/patterns.ts";
import { ROOT } from "../readme/page.ts";
import { endPrograms, startProgram, type RunningProgram } from "../readme/programs.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let folder: string;
eachInFolder((made) => {
  folder = made;
});
afterAll(endPrograms);

function example(name: string, ...acts: readonly string[]): RunningProgram {
  const args = ["--import", "tsx", `examples/${name}/main.ts`, ...acts, join(folder, "example.db")];
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
});

const KEY = "key …[\\w:]+";

/** The lines of each pattern, as patterns. */
const SAID: Readonly<Record<keyof typeof patterns, readonly string[]>> = {
  saga: [
    `book flight, ${KEY}`,
    `book flight, ${KEY}`,
    `cancel flight 7, ${KEY}`,
    "Adlon off",
    `book hotel, ${KEY}`,
    `cancel flight 7, ${KEY}`,
    "full off",
  ],
  approval: ["to ada: may we buy a desk\\?", "unchanged", `bought: a desk, ${KEY}`],
  ladder: [
    "customer: please answer",
    "customer: please answer",
    "quick answered",
    "manager: nobody answers",
    "silent closed",
  ],
  batch: [`writes a,b,c, ${KEY}`, `writes d, ${KEY}`],
  debounce: ['saves "Dear Ada"'],
  "fan-out": ["mail 250", "mail 500", "mail 750", "mail 1000", "sent"],
  poll: ["places the order", "asks \\(1\\)", "asks \\(2\\)", "asks \\(3\\)", "ready"],
};

test.each(Object.entries(SAID))("the pattern %s is played to its end", async (name, said) => {
  const program = example("patterns", name);
  expect(await program.ended, program.output()).toBe(0);
  const lines = program.output().trim().split("\n").toSorted();
  expect(lines.join("\n")).toMatch(new RegExp(`^${said.toSorted().join("\n")}$`));
});

test("E5: a saga that is killed while it undoes undoes the rest under the same keys", async () => {
  const first = example("patterns", "saga");
  await first.says(/book hotel/);
  await endPrograms();
  expect(await first.ended).toBe("SIGKILL");
  const second = example("patterns", "saga");
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).toMatch(/cancel flight 7[^]*full off/);
  expect(second.output()).not.toContain("book flight");
});
