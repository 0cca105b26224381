/** What it costs to import the entries that everybody imports. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { Report } from "./figures.ts";

// npm runs scripts at the root of the project.
const root = `${process.cwd()}/`;
const ENTRIES = ["index", "engine", "machines", "storage/sqlite"];
const RUNS = 5;

/** The fastest of a few imports of the built entry, each in a process of its own. Needs `npm run build` before. */
export async function benchImport(report: Report): Promise<void> {
  if (!existsSync(`${root}dist/index.js`)) {
    throw new Error("the bench of imports needs a build: npm run build");
  }
  for (const entry of ENTRIES) {
    const source =
      "const began = performance.now();" +
      `await import(${JSON.stringify(`${root}dist/${entry}.js`)});` +
      "process.stdout.write(String(performance.now() - began));";
    const times = Array.from({ length: RUNS }, () => {
      const args = ["--input-type=module", "--eval", source];
      return Number(spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" }).stdout);
    });
    report({ name: `import dist/${entry}.js`, milliseconds: Math.round(Math.min(...times)) });
  }
}
