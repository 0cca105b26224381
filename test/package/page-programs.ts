/** U2: each program of the pages in a folder of `npm init -y`: compiled as `tsc --init` has it, and run from the package. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { NEXT_FILES, PAGE_OF } from "../readme/page-programs.ts";
import { blockOf } from "../readme/page.ts";
import { startProgram } from "../readme/programs.ts";
import { attempt, link, project, root, run } from "./project.ts";

/** What their lines of imports bring besides what every project here has. */
const BROUGHT = [
  "@solana/keychain-memory",
  "@solana/keychain-core",
  "@statelyai/inspect",
  "standardwebhooks",
];

/** What `tsc --init` of TypeScript 5.9 writes, with the types of Node, for which it has a comment. */
const INITIAL = {
  module: "nodenext",
  target: "esnext",
  types: ["node"],
  sourceMap: true,
  declaration: true,
  declarationMap: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  strict: true,
  jsx: "react-jsx",
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noUncheckedSideEffectImports: true,
  moduleDetection: "force",
  skipLibCheck: true,
};

/** What Next writes, as far as it concerns modules. */
const OF_NEXT = {
  module: "esnext",
  moduleResolution: "bundler",
  target: "es2017",
  lib: ["dom", "dom.iterable", "esnext"],
  types: ["node"],
  strict: true,
  noEmit: true,
  esModuleInterop: true,
  resolveJsonModule: true,
  isolatedModules: true,
  skipLibCheck: true,
};

/** Each program's output until its end; the embedded server has a test of its own. */
const PRINTED: Partial<Record<keyof typeof PAGE_OF, RegExp>> = {
  change: /^\$started running\n\$migrated active\nCANCEL over\n/,
  engine: /^receipt to ada@example\.com\n$/,
  keep: /^7776000000\n$/, // modules: retention
  queries: /^ada reserved\nbob refused\n$/, // modules: host-sql
  search: /^\[ 'order-2' \] null\n\{ touched: 2, total: 2, done: true \}\n$/, // modules: search
  schedule: /^(Mitte 2025-03-\S+Z\n){3}$/, // modules: schedules
  signer: /^44\n$/,
  throughput: /^\d+ workflows a second\n$/,
  table: /^1 18446744073709551615n\n$/,
  within: /^UNIQUE constraint failed: orders\.id\nshipped to Ada\n$/, // modules: host-sql
};

/** Programs that are parts of a greater one export what it calls. */
const EXPORTED: Partial<Record<keyof typeof PAGE_OF, readonly string[]>> = {
  client: ["connect", "pay"],
  cors: ["appOf"],
  later: ["orders"],
  prometheus: ["serveMetrics"],
  receive: ["POST"],
  transact: ["move"], // modules: host-sql
  verify: ["isGenuine", "verified"],
};

const FOLDER = join(project, "pages");

function write(file: string, text: string): void {
  mkdirSync(dirname(join(FOLDER, file)), { recursive: true });
  writeFileSync(join(FOLDER, file), text);
}

/** What the compiler says of a folder. */
const compiled = (folder: string): string =>
  attempt(process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder).output;

function prepare(): void {
  link(project, BROUGHT);
  mkdirSync(FOLDER);
  run("npm", "init", "-y", "--prefix", FOLDER);
}

/** Adds the tests to those of the package. */
export function testPagePrograms(): void {
  before(prepare);
  const names = Object.keys(PAGE_OF) as (keyof typeof PAGE_OF)[];

  test("U2: every program of every page compiles in a reader's folder", () => {
    for (const name of names) write(`${name}.mts`, blockOf(PAGE_OF[name], `ts ${name}`));
    write("tsconfig.json", JSON.stringify({ compilerOptions: INITIAL, include: ["*.mts"] }));
    assert.equal(compiled(FOLDER), "");
  });

  test("U2: every program of every page is run or called by a test of the package", () => {
    const tried = new Set([...Object.keys(PRINTED), ...Object.keys(EXPORTED), "embed", "inspect"]);
    assert.deepEqual(new Set(names), tried);
  });

  for (const [name, printed] of Object.entries(PRINTED)) {
    test(`U2: the program "${name}" of a page runs from the package`, { timeout: 120_000 }, async () => {
      const program = startProgram(process.execPath, [`${name}.mjs`], { cwd: FOLDER });
      assert.equal(await program.ended, 0, program.output());
      assert.match(program.output(), printed);
    });
  }

  test("U2: what programs of the pages export is there", async () => {
    for (const [name, exported] of Object.entries(EXPORTED)) {
      const module = (await import(join(FOLDER, `${name}.mjs`))) as Readonly<Record<string, unknown>>;
      assert.deepEqual(Object.keys(module).toSorted(), exported, name);
    }
    const { POST } = (await import(join(FOLDER, "receive.mjs"))) as {
      readonly POST: (request: Request) => Promise<Response>;
    };
    process.env["WEBHOOK_SECRET"] = "a secret that the forger does not have";
    const forged = new Request("http://127.0.0.1/hook", { method: "POST", body: "{}" });
    assert.equal((await POST(forged)).status, 400);
  });

  test("U2: the files of a Next app compile as they are named", () => {
    for (const file of NEXT_FILES) write(`next/${file}`, blockOf("examples/deploy/README.md", `ts ${file}`));
    write("next/tsconfig.json", JSON.stringify({ compilerOptions: OF_NEXT, include: ["**/*.ts"] }));
    assert.equal(compiled(join(FOLDER, "next")), "");
  });
}
