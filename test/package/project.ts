/** The tarball, installed into an empty project, as a stranger gets it. Install scripts are off: nothing may depend on them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { endPrograms } from "../readme/programs.ts";

/** The folder of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The folder of the stranger's project. */
export const project = mkdtempSync(join(tmpdir(), "paystate-packed-"));

const manifest = readJson(join(root, "package.json")) as {
  version: string;
  exports: Record<string, unknown>;
};

/** Every entry of the package, as it is imported. */
export const specifiers = Object.keys(manifest.exports)
  .filter((subpath) => subpath !== "./package.json")
  .map((subpath) => subpath.replace(".", "paystate"));

/** What the consumer brings: the optional peers, the bundlers, and the types that every TypeScript project on Node has. */
const BROUGHT = [
  "better-sqlite3",
  "prom-client",
  "@opentelemetry/api",
  "@types/better-sqlite3",
  "@types/node",
  "undici-types",
  "esbuild",
];

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Runs a command in the project to its end. */
export function attempt(command: string, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

/** Runs a command in the project that has to succeed, and returns what it wrote. */
export function run(command: string, ...args: string[]): string {
  const { status, output } = attempt(command, ...args);
  assert.equal(status, 0, `${command} ${args.join(" ")}\n${output}`);
  return output;
}

/** Writes programs of the repository that import the package by its name into the project, as JavaScript. */
export function bring(folder: string, ...names: readonly string[]): void {
  const compilerOptions: ts.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  };
  for (const name of names) {
    const source = readFileSync(join(root, folder, `${name}.ts`), "utf8");
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    const place = join(project, `${name}.js`);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, outputText.replaceAll(/"\.{1,2}\/index\.js"/g, '"paystate/storage"'));
  }
}

/** Takes packages out of the project's tree for as long as `act` runs. */
export function without(packages: readonly string[], act: () => void): void {
  const moves = packages
    .map((name) => ({ from: join(project, "node_modules", name), to: join(project, `hidden-${name}`) }))
    .filter(({ from }) => existsSync(from));
  for (const { from, to } of moves) renameSync(from, to);
  try {
    act();
  } finally {
    for (const { from, to } of moves) renameSync(to, from);
  }
}

/** The file that is published. */
export const tarball = join(project, `paystate-${manifest.version}.tgz`);

/** How npm installs here. */
export const QUIET = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--silent"];

/** Links packages of the repository into a folder, also in place of some dependency's own old copy. */
export function link(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    rmSync(place, { recursive: true, force: true });
    symlinkSync(join(root, "node_modules", name), place);
  }
}

before(() => {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("nothing is built here: npm run build");
  run("npm", "pack", root, "--ignore-scripts", "--pack-destination", project, "--silent");
  writeFileSync(join(project, "package.json"), '{ "name": "stranger", "private": true, "type": "module" }');
  run("npm", "install", tarball, "@solana/web3.js@1", ...QUIET);
  link(project, BROUGHT);
  symlinkSync(join(root, "test/foreign/node_modules/webpack"), join(project, "node_modules/webpack"));
});

after(async () => {
  await endPrograms();
  rmSync(project, { recursive: true, force: true });
});
