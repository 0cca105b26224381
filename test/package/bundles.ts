/** Hosts in one file, made by the configurations on the page about bundlers: each does what it did before. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { blockOf } from "../readme/page.ts";
import { startProgram, type RunningProgram } from "../readme/programs.ts";
import { sendSol } from "../readme/send-sol.ts";
import { bring, project, run } from "./project.ts";

const PAGE = "src/service/runtimes.md";

/** What the host says when it takes payments. */
interface Opening {
  readonly baseUrl: string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

const WEBPACK = `
  import webpack from "webpack";
  import configurations from "./webpack.config.mjs";
  webpack(configurations, (error, stats) => {
    if (error) throw error;
    if (stats.hasErrors() || stats.hasWarnings()) console.log(stats.toString("errors-warnings"));
  });
`;

async function prepare(): Promise<void> {
  bring("test/package/hosts", "host", "page");
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
  assert.doesNotMatch(text, /\b(?:from |import\(|require\()"paystate(?!\/local)/);

  const host = start(bundle);
  await host.says(/^answer 42$/m);
  const [line] = await host.says(/^\{.*\}$/m);
  const { baseUrl, key, from, to } = JSON.parse(line) as Opening;
  const door = { url: `${baseUrl}/v1`, key };
  const transactionId = await sendSol(door, { from: Buffer.from(from, "hex"), to });
  const page = pathToFileURL(join(project, "bundles/page.mjs")).href;
  const { show } = (await import(page)) as { show: (...args: readonly string[]) => Promise<string> };
  assert.equal(await show(baseUrl, key, transactionId), "completed");
  assert.equal(await host.stop(), 0, host.output());
}

/** Adds the tests to those of the package. */
export function testBundles(): void {
  before(prepare);

  test("bundled by esbuild, as ESM and as CommonJS", { timeout: 60_000 }, async () => {
    assert.equal(run(process.execPath, "esbuild.config.mjs"), "");
    for (const bundle of ["esbuild-esm.mjs", "esbuild-cjs.cjs"]) await worksInOneFile(bundle);
  });

  test("bundled by webpack, as ESM and as CommonJS", { timeout: 120_000 }, async () => {
    assert.equal(run(process.execPath, "--input-type=module", "--eval", WEBPACK).trim(), "");
    for (const bundle of ["webpack-esm.mjs", "webpack-cjs.cjs"]) await worksInOneFile(bundle);
  });
}
