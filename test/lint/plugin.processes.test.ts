/** The lint rules of this project, run by the linter itself on small files. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "paystate-lint-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The rules of ours that object to this source text. */
function objections(source: string): string[] {
  const file = join(folder, "sample.ts");
  writeFileSync(file, `${source}\n`);
  const run = spawnSync(join(root, "node_modules/.bin/oxlint"), ["--format=json", file], {
    cwd: root,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(run.stdout) as { diagnostics: { code: string }[] };
  return diagnostics.map(({ code }) => code).filter((code) => code.startsWith("paystate"));
}

describe("time and chance are injected", () => {
  test.each([
    "export const at = Date.now();",
    "export const at = new Date();",
    "export const chance = Math.random();",
    "export const at = performance.now();",
    "setTimeout(() => {}, 1);",
    "export const signal = AbortSignal.timeout(1);",
    'import { randomBytes } from "node:crypto"; randomBytes(1);',
    'import { setTimeout as sleep } from "node:timers/promises"; await sleep(1);',
  ])("`%s` is refused", (source) => {
    expect(objections(source)).toEqual(["paystate(no-ambient)"]);
  });

  test("converting a given time and giving up the turn are allowed", () => {
    const source =
      "export const text = new Date(0).toISOString() + Date.parse('2020'); setImmediate(() => {});";
    expect(objections(source)).toEqual([]);
  });
});

test("`export *` is refused", () => {
  expect(objections('export * from "./other.ts";')).toEqual(["paystate(no-export-all)"]);
});

test("a literal spread into a literal is refused, and a conditional one is not", () => {
  expect(objections("export const made = { ...{ a: 1 }, b: 2 };")).toEqual(["paystate(no-literal-spread)"]);
  expect(objections("export const made = (a?: object) => ({ ...(a ?? {}), b: 2 });")).toEqual([]);
});

describe("what vitest's rules check of `test` holds for an extended test", () => {
  const refused = ["paystate(extended-tests)"];

  test.each(["only", "skip", "todo"])("`.%s` is refused", (name) => {
    expect(objections(`chainTest.${name}("holds", ({ world }) => expect(world).toBe(1));`)).toEqual(refused);
  });

  test("a test that expects nothing is refused, and one that expects is not", () => {
    const [idle, good] = ["world.close()", "expect(world).toBe(1)"].map(
      (body) => `chainTest.for([1])("holds for %s", (_row, { world }) => ${body});`,
    );
    expect(objections(idle ?? "")).toEqual(refused);
    expect(objections(good ?? "")).toEqual([]);
  });

  test("a fixture expects nothing", () => {
    expect(
      objections('export const test = chainTest.extend("wallet", ({ world }) => world.wallet());'),
    ).toEqual([]);
  });
});
