/** Compiles them once for all tests: each start would otherwise spend more time on that than on what is tested. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Options } from "tsup";
import { PROGRAMS, PROGRAMS_FOLDER } from "./programs.ts";

// Within the project, where Node finds the packages that stay outside the bundles.
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The variable that tells tsx where a program's imports are found. */
const TSX_CONFIG = "TSX_TSCONFIG_PATH";

/** Packages with a native part, some that are imported when they are wanted: tests take them away; and that of hosts' charts. */
const OUTSIDE = [
  "better-sqlite3",
  "elkjs",
  "litesvm",
  "pg$",
  "undici",
  "bufferutil",
  "utf-8-validate",
  "xstate",
];

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
  const entries = await publicEntries();
  await compile({
    entry: { ...others, ...entries },
    outDir: folder,
    noExternal: [new RegExp(`^(?!${OUTSIDE.join("|")})`)],
    external: OUTSIDE.map((name) => new RegExp(`^${name}`)),
    // Packages in CommonJS ask for Node's own modules in this way.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  });
  await leadExamplesTo(folder, Object.keys(entries));
  process.env[PROGRAMS_FOLDER] = folder;
  return () => rm(folder, { recursive: true });
}

/** The entries of the package: under which name each is compiled, and where it begins. */
async function publicEntries(): Promise<Readonly<Record<string, string>>> {
  const { tsup } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    readonly tsup: { readonly entry: Readonly<Record<string, string>> };
  };
  return tsup.entry;
}

/** What runs through tsx, as examples do, imports what was compiled in place of some 300 sources. */
async function leadExamplesTo(folder: string, entries: readonly string[]): Promise<void> {
  const paths = entries.map((entry) => [
    entry === "index" ? "paystate" : `paystate/${entry}`,
    [join(folder, `${entry}.js`)],
  ]);
  const config = join(folder, "tsconfig.json");
  const compilerOptions = { paths: Object.fromEntries(paths) as unknown };
  await writeFile(config, JSON.stringify({ extends: join(ROOT, "tsconfig.json"), compilerOptions }));
  process.env[TSX_CONFIG] = config;
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
