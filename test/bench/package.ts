/** What a stranger downloads and installs: bytes and files of the tarball, and what stands on the disk afterwards. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { report, timed } from "./figures.ts";

// npm runs scripts at the root of the project.
const root = process.cwd();
const MB = 1_000_000;

/** What `npm pack --json` says of the tarball. */
interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

/** Needs `npm run build` before, and the registry or a filled npm cache: which of them says how much is waiting. */
export async function benchPackage(): Promise<void> {
  if (!existsSync(join(root, "dist/index.js"))) {
    throw new Error("the bench of the package needs a build: npm run build");
  }
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const [packed] = JSON.parse(npm(root, pack)) as readonly Packed[];
    if (packed === undefined) throw new Error("npm pack has packed nothing");
    const { filename, size, unpackedSize, entryCount } = packed;
    const unpacked = { "MB unpacked": unpackedSize / MB, files: entryCount };
    report({ name: "package, the tarball", kB: size / 1_000, ...unpacked });
    for (const [name, options] of [
      ["without", ["--omit=optional"]],
      ["with", []],
    ] as const) {
      const { seconds, result } = await timed(async () => installed(folder, filename, options));
      report({ name: `package, installed ${name} paystate/local`, MB: result, seconds });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The megabytes of a new project with the tarball and its peers; none of their scripts has run. */
function installed(folder: string, tarball: string, options: readonly string[]): number {
  const project = mkdtempSync(join(folder, "project-"));
  writeFileSync(join(project, "package.json"), '{ "name": "stranger", "private": true, "type": "module" }');
  const quiet = ["--no-audit", "--no-fund", "--silent", "--ignore-scripts"];
  npm(project, ["install", join(folder, tarball), "xstate", "better-sqlite3@12", ...quiet, ...options]);
  const names = readdirSync(join(project, "node_modules"), { recursive: true, encoding: "utf8" });
  const files = names
    .map((name) => statSync(join(project, "node_modules", name)))
    .filter((at) => at.isFile());
  return files.reduce((sum, { size }) => sum + size, 0) / MB;
}

function npm(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}
