/** Where the package that runs came from, as a dependency of another project names it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ownManifest } from "./manifest.ts";

/** The part of npm's lock file that is read. */
interface Lock {
  readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
}

/**
 * The version range of this package, such as "^0.1.0"; or "file:" and the path of the tarball that npm installed it from.
 * The folder is that of the package, where the command runs.
 */
export function packageSource(folder: string): string {
  return tarballOf(folder) ?? `^${ownManifest().version}`;
}

function tarballOf(folder: string): string | null {
  const modules = dirname(folder);
  const lock = join(modules, ".package-lock.json");
  if (!existsSync(lock)) return null;
  const { packages = {} } = JSON.parse(readFileSync(lock, "utf8")) as Lock;
  const resolved = packages["node_modules/paystate"]?.resolved ?? "";
  if (!resolved.startsWith("file:")) return null;
  // npm writes the path as it leads there from the folder of its project.
  const path = resolve(dirname(modules), resolved.slice("file:".length));
  return existsSync(path) ? `file:${path}` : null;
}
