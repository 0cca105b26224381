/** Hosts in one file, made by the configurations on the page about bundlers: each does what it did before. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { blockOf } from "../readme/page.ts";
import { startProgram, type RunningProgram } from "../readme/programs.ts";
import type { show as Show } from "./hosts/page.ts";
import { payThrough } from "./pay-through.ts";
import { bring, project, run } from "./project.ts";

const PAGE = "examples/deploy/README.md";

const WEBPACK = `
  import webpack from "webpack";
  import configurations from "./webpack.config.mjs";
  webpack(configurations, (error, stats) => {
    if (error) throw error;
    if (stats.hasErrors() || stats.hasWarnings()) console.log(stats.toString("errors-warnings"));
  });
`;

async function prepare(): Promise<void> {
  bring("test/package/hosts", "host", "serve", "page");
  for (const bundler of ["esbuild", "webpack"]) {
    writeFileSync(join(project, `${bundler}.config.mjs`), blockOf(PAGE, `js ${bundler}`));
  }
  await build({
    entryPoints: [join(project, "page.js")],
    bundle: true,
    platform: "browser",
    format: "esm",
    outfile: join(project, "bundles/page.mjs"),
  });
}

/** Starts a bundle in an empty folder of its own. */
function start(bundle: string): RunningProgram {
  const cwd = join(project, "bundles", `data-of-${bundle}`);
  mkdirSync(cwd);
  return startProgram(process.execPath, [join(project, "bundles", bundle)], { cwd });
}

async function worksInOneFile(bundle: string): Promise<void> {
  const text = readFileSync(join(project, "bundles", bundle), "utf8");
  assert.doesNotMatch(text, /\b(?:from |import\(|require\()"paystate(?:"|\/(?!local))/);
  const page = pathToFileURL(join(project, "bundles/page.mjs")).href;
  const { show } = (await import(page)) as { show: typeof Show };
  await payThrough(start(bundle), show);
}

/** Adds the tests to those of the package. */
export function testBundles(): void {
  before(prepare);

  test("bundled by esbuild, as ESM and as CommonJS", { timeout: 120_000 }, async () => {
    assert.equal(run(process.execPath, "esbuild.config.mjs"), "");
    for (const bundle of ["esbuild-esm.mjs", "esbuild-cjs.cjs"]) await worksInOneFile(bundle);
  });

  test("bundled by webpack, as ESM and as CommonJS", { timeout: 120_000 }, async () => {
    assert.equal(run(process.execPath, "--input-type=module", "--eval", WEBPACK).trim(), "");
    for (const bundle of ["webpack-esm.mjs", "webpack-cjs.cjs"]) await worksInOneFile(bundle);
  });
}
