/** U9: projects with older settings of TypeScript, and programs in CommonJS: what the page's table says of each is so. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { codeIn, tableOf } from "../readme/page.ts";
import { attempt, project, root, run, specifiers } from "./project.ts";

const TSC = join(root, "node_modules/typescript/bin/tsc");

/** A row of the table. */
interface Settings {
  readonly module: string;
  readonly moduleResolution: string;
  readonly isCommonJs: boolean;
  /** What the compiler says instead of compiling; undefined where all is well. */
  readonly error: string | undefined;
}

const ROWS = tableOf("examples/deploy/README.md", "### CommonJS").map(
  ([module, resolution, file, answer]): Settings => ({
    module: codeIn(module)[0] ?? "none",
    moduleResolution: codeIn(resolution)[0] ?? "none",
    isCommonJs: file === "CommonJS",
    error: /TS\d+/.exec(answer ?? "")?.[0],
  }),
);

/** Each entry is named and has types: what has none would be `any`, and any is a string. */
const IMPORTS = specifiers
  .map(
    (specifier, index) =>
      `import * as entry${index} from "${specifier}";\n` +
      `// @ts-expect-error\n` +
      `export const text${index}: string = entry${index};\n`,
  )
  .join("");
const NOW = `${IMPORTS}console.log(typeof entry${specifiers.indexOf("paystate/engine")}.createEngine);\n`;
const LATER = `${IMPORTS}void import("paystate/engine").then(({ createEngine }) => console.log(typeof createEngine));\n`;

const errorsOf = ({ error }: Settings): readonly string[] => (error === undefined ? [] : [error]);

/** Compiles a program with these settings in a folder of its own; returns what the compiler says. */
function compiled({ module, moduleResolution, isCommonJs }: Settings, source: string): string {
  mkdirSync(join(project, "settings"), { recursive: true });
  const compilerOptions = {
    module,
    moduleResolution,
    target: "es2022",
    strict: true,
    skipLibCheck: true,
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
    types: ["node"],
  };
  const file = (name: string, text: string): void => writeFileSync(join(project, "settings", name), text);
  file("package.json", JSON.stringify({ type: isCommonJs ? "commonjs" : "module" }));
  file("tsconfig.json", JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  file("main.ts", source);
  return attempt(process.execPath, TSC, "-p", join(project, "settings")).output;
}

/** Adds the tests to those of the package. */
export function testSettings(): void {
  test("the table of settings names what TypeScript has, for modules of both kinds", () => {
    assert.deepEqual(
      new Set(ROWS.map(({ moduleResolution }) => moduleResolution)),
      new Set(["nodenext", "node16", "bundler", "node10"]),
    );
    assert.ok(ROWS.some(({ isCommonJs }) => isCommonJs));
  });

  for (const row of ROWS) {
    const kind = row.isCommonJs ? "CommonJS" : "an ES module";
    test(`U9: module ${row.module}, moduleResolution ${row.moduleResolution}, ${kind}`, () => {
      const output = compiled(row, row.error === undefined ? NOW : LATER);
      const lines = output.split("\n").filter((line) => line.includes("error"));
      assert.deepEqual(new Set(lines.map((line) => /TS\d+/.exec(line)?.[0])), new Set(errorsOf(row)));
      assert.equal(run(process.execPath, "settings/main.js"), "function\n");
    });
  }
}
