/** The package.json of this package. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The fields that are read of it. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The command lies somewhere below its manifest, built or as a source. */
export function ownManifest(): Manifest {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest?.name === "paystate") return manifest;
  }
  throw new Error("paystate's own package.json is missing: install the package again");
}

function manifestIn(folder: string): Manifest | null {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : null;
}
