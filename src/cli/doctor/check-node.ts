/** Checks whether the package runs on this version of Node. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fine, wrong, type Finding } from "./finding.ts";

/** `version` without the `v`; `range` as in package.json: the least version that fits. */
export function checkNode(version: string, range: string): Finding {
  const found = `Node ${version}, and ${range} is needed`;
  if (isAtLeast(version, range.replace(/^>=/, ""))) return fine("node", found);
  return wrong("node", { found, todo: "install a newer Node" });
}

/** The Node range in the package.json of this package. The command lies somewhere below it, built or as a source. */
export function neededNode(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest?.name === "paystate") return manifest.engines.node;
  }
  throw new Error("paystate's own package.json is missing: install the package again");
}

/** The fields that are read of a package.json. */
interface Manifest {
  readonly name: string;
  readonly engines: { readonly node: string };
}

function manifestIn(folder: string): Manifest | null {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : null;
}

function isAtLeast(version: string, least: string): boolean {
  const given = version.split(".").map(Number);
  const wanted = least.split(".").map(Number);
  const place = wanted.findIndex((part, index) => part !== given[index]);
  return place === -1 || (given[place] ?? 0) > (wanted[place] ?? 0);
}
