/** A copy of the tree without modules of the engine and of the payment service, and all that goes with them. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODULES as ENGINE_MODULES } from "../../src/engine/modules.ts";
import { WAY_MODULES } from "../../src/payments/modules.ts";
import { goesWith, pageWithout, sourceWithout, type Left } from "./take-away.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LINKED = ["node_modules", "examples/node_modules", "test/foreign/node_modules"];

/** A module with its folder. */
interface Removable {
  readonly name: string;
  readonly folder: string;
  /** Files and folders outside of it that are no sources, such as examples. */
  readonly owns: readonly string[];
  readonly needs: readonly string[];
  readonly neededBy: readonly string[];
}

export const MODULES: readonly Removable[] = [
  ...ENGINE_MODULES.map(({ name, needs = [], neededBy = [] }) => ({
    name,
    folder: `src/engine/modules/${name}/`,
    owns: [],
    needs,
    neededBy,
  })),
  ...WAY_MODULES.map(({ name, needs = [], owns = [] }) => ({
    name,
    folder: `src/payments/${name}/`,
    owns,
    needs,
    neededBy: [],
  })),
];

/** These modules, and all that need one of them. */
export function withDependants(names: readonly string[]): ReadonlySet<string> {
  const gone = new Set(names);
  for (let before = 0; before < gone.size;) {
    before = gone.size;
    for (const { name, needs } of MODULES) if (needs.some((need) => gone.has(need))) gone.add(name);
  }
  return gone;
}

/** The files of the tree, as they stand. */
const files = (): readonly string[] =>
  execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--deduplicate"], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(ROOT, path)));

/**
 * Copies what is left to a folder.
 * @param say told each file that goes, and each that loses lines
 */
export function copyWithout(gone: ReadonlySet<string>, to: string, say: (line: string) => void): void {
  const all = files();
  const left = all.filter((path) => !isGoneFile(path, gone));
  const kept = new Set(left);
  const goneFiles = new Set(all.filter((path) => !kept.has(path)));
  for (const path of goneFiles) say(`- ${path}`);
  for (const path of left) {
    const target = join(to, path);
    mkdirSync(dirname(target), { recursive: true });
    const changed = changedFile(path, gone, goneFiles);
    if (changed === null || changed.gone.length === 0) {
      cpSync(join(ROOT, path), target);
      continue;
    }
    writeFileSync(target, changed.text);
    say(`~ ${path}`);
    if (isSource(path)) for (const line of changed.gone) say(`    ${line.trim().replaceAll(/\s+/g, " ")}`);
  }
  for (const path of LINKED.filter((each) => existsSync(join(ROOT, each)))) {
    symlinkSync(join(ROOT, path), join(to, path));
  }
}

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const isSource = (path: string): boolean => /\.(ts|tsx|js|mjs)$/.test(path);

/** Whether a file is of a module, or says that it goes with it. */
function isGoneFile(path: string, gone: ReadonlySet<string>): boolean {
  const folders = MODULES.filter(({ name }) => gone.has(name)).flatMap(({ folder, owns }) => [
    folder,
    ...owns,
  ]);
  if (folders.some((folder) => path.startsWith(folder))) return true;
  return isSource(path) && goesWith(read(path)).some((name) => gone.has(name));
}

/** A file as it is without them; null where it is not of a kind that changes. */
function changedFile(path: string, gone: ReadonlySet<string>, goneFiles: ReadonlySet<string>): Left | null {
  if (path.endsWith(".md")) return pageWithout(read(path), (name) => gone.has(name));
  if (!isSource(path)) return null;
  return sourceWithout(read(path), {
    file: (specifier) => specifier.startsWith(".") && goneFiles.has(join(dirname(path), specifier)),
    module: (name) => gone.has(name),
  });
}
