/** Compiles them once for all tests: each start would otherwise spend more time on that than on what is tested. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Options } from "tsup";
import { PROGRAMS, PROGRAMS_FOLDER } from "./programs.ts";

// Within the project, where Node finds the packages that stay outside the bundles.
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));

/** Packages with a native part, and some that are imported when they are wanted: tests take them away. */
const OUTSIDE = ["better-sqlite3", "elkjs", "litesvm", "pg$", "undici", "bufferutil", "utf-8-validate"];

/** What is true of a program that finds its packages where they are installed. */
const { "first-question": asInstalled, ...others } = PROGRAMS;

// oxlint-disable import/no-default-export -- vitest calls the default export

/** Called by vitest before the first test. What it answers is called after the last. */
export default async function compilePrograms(): Promise<() => Promise<void>> {
  // Another project of the same run has compiled them.
  if (process.env[PROGRAMS_FOLDER] !== undefined) return async () => {};
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(`${CACHE}paystate-programs-`);
  await compile({ entry: { "first-question": asInstalled }, outDir: folder });
  // To find and read some 300 files of packages takes half of a start; the packed build is tested with them outside.
  await compile({
    entry: others,
    outDir: folder,
    noExternal: [new RegExp(`^(?!${OUTSIDE.join("|")})`)],
    external: OUTSIDE.map((name) => new RegExp(`^${name}`)),
    // Packages in CommonJS ask for Node's own modules in this way.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  });
  process.env[PROGRAMS_FOLDER] = folder;
  return () => rm(folder, { recursive: true });
}

function compile(options: Options): Promise<void> {
  return build({
    config: false,
    format: "esm",
    target: "node20",
    splitting: true,
    sourcemap: true,
    removeNodeProtocol: false,
    silent: true,
    ...options,
    // Errors name files and lines; the sources themselves would double what each start has to read.
    esbuildOptions: (settings) => {
      settings.sourcesContent = false;
    },
  });
}
