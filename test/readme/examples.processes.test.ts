/** The examples in the docstrings: every exported function has one, and each prints what it says. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { exportedValues } from "./examples.ts";
import { makeScratchFolder, removeScratchFolder } from "./scratch-folder.ts";

/** Errors that are thrown by the package and made by no one else: the docstring of what throws them shows them. */
const ONLY_THROWN: ReadonlySet<string> = new Set([
  "ApiError",
  "ChangedChart",
  "EngineStopped",
  "InvalidOptions",
  "KeyRefused",
  "MigrationFailed",
  "NoAnswer",
  "OperatorRefused",
  "StartRefused",
  "StateNotReached",
  "StatusNotReached",
  "UnknownWorkflow",
  "UnstorableValue",
  "WebhookRefused",
]);

const values = exportedValues();
const examples = values.flatMap(({ name, entry, examples: given }) =>
  given.map((example) => ({ ...example, of: `${name} of ${entry}` })),
);

let folder = "";
const home = process.cwd();
beforeAll(() => {
  folder = makeScratchFolder();
  // Some write files, and name them as a reader would.
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(home);
  removeScratchFolder(folder);
});

test("every exported function has an example, and every class that is made by others", () => {
  const without = values
    .filter(({ name, kind }) => kind === "function" || (kind === "class" && !ONLY_THROWN.has(name)))
    .filter((value) => value.examples.length === 0);
  expect(without.map(({ name, entry }) => `${name} of ${entry}`)).toEqual([]);
  expect(examples.length).toBeGreaterThan(25);
});

test("no class is excused that is not exported", () => {
  const classes = new Set(values.filter(({ kind }) => kind === "class").map(({ name }) => name));
  expect([...ONLY_THROWN].filter((name) => !classes.has(name))).toEqual([]);
});

test.for(examples.filter(({ notRunBecause }) => notRunBecause === null))(
  "the example of $of prints what it says",
  async ({ code, of }) => {
    const path = join(folder, `${of.replaceAll("/", " ")}.ts`);
    writeFileSync(path, code);
    const said = [...code.matchAll(/console\.log\(.*\);? \/\/ (.*)$/gm)].map(([, line = ""]) => line);
    const printed: string[] = [];
    const print = vi.spyOn(console, "log").mockImplementation((...line) => {
      printed.push(format(...line));
    });
    try {
      await import(path);
      expect(printed).toEqual(said);
    } finally {
      print.mockRestore();
    }
  },
);
