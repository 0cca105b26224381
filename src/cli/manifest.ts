/** The package.json of this package. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The fields that are read of it. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function ownManifest(): Manifest {
  return JSON.parse(readFileSync(join(ownFolder(), "package.json"), "utf8")) as Manifest;
}

/** The folder of the package. The command lies somewhere below its manifest, built or as a source. */
export function ownFolder(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    if (manifestIn(folder)?.name === "paystate") return folder;
  }
  throw new Error("paystate's own package.json is missing: install the package again");
}

function manifestIn(folder: string): Manifest | null {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : null;
}
