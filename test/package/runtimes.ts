/** Other runtimes, from npm, each with the better-sqlite3 that it loads; kept in node_modules/.cache. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../readme/page.ts";

/** A runtime that has been installed. */
export interface Runtime {
  /** The program that runs a file, and what stands before the file's name. */
  readonly command: string;
  readonly args: readonly string[];
}

/** What a runtime is made of. */
interface Parts {
  readonly package: string;
  readonly version: string;
  readonly binary: string;
  readonly args: readonly string[];
  /**
   * 13 brings binaries for every Node-API 10; 12 is compiled here, with the headers of the package. Null where none is tried,
   * but the driver of that Node.
   */
  readonly driver: "12" | "13" | null;
}

const { platform, arch } = process;
const node = (version: string, driver: Parts["driver"]): Parts => ({
  package: `node-${platform}-${arch}`,
  version,
  binary: "bin/node",
  args: [],
  driver,
});

const RUNTIMES: Readonly<Record<string, Parts>> = {
  "20.19": node("20.19", "12"),
  "22.13": node("22.13", null),
  "22": node("22", "13"),
  "24": node("24", "13"),
  "26": node("26", "13"),
  bun: {
    package: `@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : arch}`,
    version: "1",
    binary: "bin/bun",
    args: [],
    driver: "13",
  },
  deno: {
    package: `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`,
    version: "2",
    binary: "deno",
    args: ["run", "--allow-all"],
    driver: "13",
  },
};

/** The names that `npm run matrix` knows. */
export const RUNTIME_NAMES: readonly string[] = Object.keys(RUNTIMES).filter(
  (name) => RUNTIMES[name]?.driver !== null,
);

/** Those of Nodes whose own driver of SQLite is tried, the first that has one among them. */
export const WITH_SQLITE = ["22.13", "24"];

/** What a runtime is made of, and where it is kept. Throws for a name that is none. */
function partsOf(name: string): Parts & { readonly folder: string; readonly home: string } {
  const parts = RUNTIMES[name];
  if (parts === undefined) {
    throw new Error(`there is no runtime "${name}": expected some of ${RUNTIME_NAMES.join(", ")}`);
  }
  const folder = join(ROOT, "node_modules/.cache/paystate-matrix", name);
  return { ...parts, folder, home: join(folder, "node_modules", parts.package) };
}

/** Installs what is not there yet: an install that was cut off leaves no mark. */
function once(mark: string, install: () => void): void {
  if (existsSync(mark)) return;
  install();
  writeFileSync(mark, "");
}

/** Installs a runtime, unless it is there already. Throws what npm says, and for a name that is none. */
export function installed(name: string): Runtime {
  const { folder, home, package: ofNpm, version, binary, args } = partsOf(name);
  once(join(folder, "complete"), () => {
    mkdirSync(folder, { recursive: true });
    const manifest = { private: true, allowScripts: { "better-sqlite3": true } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    npm(folder, ["install", `${ofNpm}@${version}`, "--ignore-scripts"], {});
  });
  return { command: join(home, binary), args };
}

/** Installs the better-sqlite3 that a runtime loads, unless it is there already, and returns its folder. */
export function installedDriver(name: string): string {
  installed(name);
  const { folder, home, binary, driver } = partsOf(name);
  once(join(folder, "complete-driver"), () => {
    const isNode = binary === "bin/node";
    // Its script runs on the Node that it is for, so that the binary fits.
    if (driver === null) throw new Error(`no better-sqlite3 is tried on ${name}`);
    const env = isNode ? { PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}` } : {};
    const headers = isNode ? [`--nodedir=${home}`, "--build-from-source"] : ["--ignore-scripts"];
    npm(folder, ["install", `better-sqlite3@${driver}`, ...headers], env);
  });
  return join(folder, "node_modules/better-sqlite3");
}

function npm(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>): void {
  const quiet = ["--no-audit", "--no-fund", "--silent", "--prefer-offline"];
  const { status, stdout, stderr } = spawnSync("npm", [...args, ...quiet], {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`npm ${args.join(" ")}\n${stdout}${stderr}`);
}
