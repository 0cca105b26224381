/** What a stranger downloads, installs and waits for: from an empty folder to a payment that is completed. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bs58 from "bs58";
import { createClient } from "../../src/client/index.ts";
import { endPrograms, startProgram } from "../readme/programs.ts";
import { sendSol } from "../readme/send-sol.ts";
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

/** The line of `paystate dev --json`. */
interface Ready {
  readonly baseUrl: string;
  readonly apiKeys: { readonly free: string };
  readonly wallets: readonly { readonly address: string; readonly secretKey: string }[];
}

/** Needs `npm run build` before, and the registry or a filled npm cache: which of them says how much is waiting. */
export async function benchPackage(): Promise<void> {
  if (!existsSync(join(root, "dist/index.js"))) {
    throw new Error("the bench of the package needs a build: npm run build");
  }
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    const tarball = pack(folder);
    report({
      name: "installed, without paystate/local",
      MB: installedMb(folder, tarball, "--omit=optional"),
    });
    const { seconds, result } = await timed(() => payFromNothing(folder, tarball));
    report({
      name: "empty folder to a completed payment",
      seconds,
      "of them npm": result.installSeconds,
      "of them finality, 32 slots": result.payingSeconds,
    });
    report({ name: "installed, with paystate/local", MB: megabytes(result.project) });
  } finally {
    await endPrograms();
    rmSync(folder, { recursive: true });
  }
}

/** Packs the build into the folder, and returns the tarball's path. */
function pack(folder: string): string {
  const out = runIn(root, "npm", "pack", "--ignore-scripts", "--json", "--pack-destination", folder);
  const [packed] = JSON.parse(out) as readonly Packed[];
  if (packed === undefined) throw new Error(`npm pack has packed nothing: ${out}`);
  report({
    name: "the packed package",
    kB: packed.size / 1_000,
    "MB unpacked": packed.unpackedSize / MB,
    files: packed.entryCount,
  });
  return join(folder, packed.filename);
}

/** Follows the README: installs package and peers, starts `paystate dev`, sends SOL, waits until it is final. */
async function payFromNothing(
  folder: string,
  tarball: string,
): Promise<{ project: string; installSeconds: number; payingSeconds: number }> {
  const project = newProject(folder);
  const installed = await timed(async () => install(project, tarball));
  const command = join(project, "node_modules/.bin/paystate");
  const dev = startProgram(command, ["dev", "--json", "--port", "0", "--rpc-port", "0"], { cwd: project });
  const [line] = await dev.says(/^\{.*\}$/m);
  const { baseUrl, apiKeys, wallets } = JSON.parse(line) as Ready;
  const [alice, bob] = wallets;
  if (alice === undefined || bob === undefined) throw new Error(`paystate dev has no wallets: ${line}`);
  const paid = await timed(async () => {
    const door = { url: `${baseUrl}/v1`, key: apiKeys.free };
    const transactionId = await sendSol(door, { from: bs58.decode(alice.secretKey), to: bob.address });
    await createClient({ baseUrl, apiKey: apiKeys.free }).waitFor(transactionId, "completed");
  });
  await dev.stop();
  return { project, installSeconds: installed.seconds, payingSeconds: paid.seconds };
}

function installedMb(folder: string, tarball: string, ...options: readonly string[]): number {
  const project = newProject(folder);
  install(project, tarball, ...options);
  return megabytes(project);
}

function newProject(folder: string): string {
  const project = mkdtempSync(join(folder, "project-"));
  writeFileSync(join(project, "package.json"), '{ "name": "stranger", "private": true, "type": "module" }');
  return project;
}

function install(project: string, tarball: string, ...options: readonly string[]): void {
  const quiet = ["--no-audit", "--no-fund", "--silent"];
  runIn(project, "npm", "install", tarball, "xstate", "better-sqlite3@12", ...quiet, ...options);
}

function runIn(cwd: string, command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** What the packages below a project take on the disk. */
function megabytes(project: string): number {
  const names = readdirSync(join(project, "node_modules"), { recursive: true, encoding: "utf8" });
  const sizes = names
    .map((name) => statSync(join(project, "node_modules", name)))
    .filter((at) => at.isFile());
  return sizes.reduce((sum, { size }) => sum + size, 0) / MB;
}
