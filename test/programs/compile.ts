/** Compiles them once for all tests: each start would otherwise spend more time on that than on what is tested. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { PROGRAMS, PROGRAMS_FOLDER } from "./programs.ts";

// Within the project, where Node finds the packages that stay outside the bundles.
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));

// oxlint-disable import/no-default-export -- vitest calls the default export

/** Called by vitest before the first test. What it answers is called after the last. */
export default async function compilePrograms(): Promise<() => Promise<void>> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(`${CACHE}paystate-programs-`);
  await build({
    entry: { ...PROGRAMS },
    outDir: folder,
    config: false,
    format: "esm",
    target: "node20",
    splitting: true,
    sourcemap: true,
    removeNodeProtocol: false,
    silent: true,
  });
  process.env[PROGRAMS_FOLDER] = folder;
  return () => rm(folder, { recursive: true });
}
