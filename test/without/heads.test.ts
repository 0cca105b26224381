/** A head that names a module of payments is true: what it stands in uses the module. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { WAY_MODULES } from "../../src/payments/modules.ts";
import { goesWith } from "./take-away.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const IMPORT = /(?:from|import\()\s*"(\.[^"]+)"/g;

const paths = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--deduplicate", "*.ts"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(ROOT, path)));
const texts = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
const headed = (path: string, name: string): boolean => goesWith(texts.get(path) ?? "").includes(name);

/** A file of the module, or of its tests, or one that goes with it. */
const isOf = (path: string, name: string): boolean =>
  path.startsWith(`src/payments/${name}/`) || path.startsWith(`test/payments/${name}/`) || headed(path, name);

/** What a file calls that uses a module over the API, or by the service, alone. */
const CALLS: Readonly<Record<string, RegExp>> = { webhooks: /webhook|announce|\.subscribe\(/i };

const unmarked = (path: string): string => (texts.get(path) ?? "").replaceAll(/^\/\/ modules: .*$/gm, "");

const importsOf = (path: string): readonly string[] =>
  [...(texts.get(path) ?? "").matchAll(IMPORT)].map(([, to = ""]) => join(dirname(path), to));

test("a head names no module that its file does not use, or that nobody who uses it needs", () => {
  const idle = WAY_MODULES.flatMap(({ name }) => {
    const own = paths.filter((path) => isOf(path, name));
    const helping = new Set(own.flatMap(importsOf));
    return paths
      .filter((path) => headed(path, name) && !path.startsWith(`test/payments/${name}/`))
      .filter((path) => !helping.has(path) && !importsOf(path).some((to) => isOf(to, name)))
      .filter((path) => CALLS[name]?.test(unmarked(path)) !== true)
      .map((path) => `${path} names ${name}`);
  });
  expect(idle).toEqual([]);
});
