/** Durable workflows of four steps on one PostgreSQL, beside what others make durable on the same server, and beside SQLite. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../kit/postgres-server.ts";
import { programOf, startChild } from "./child.ts";
import { type Cost, inTurns, report, timed, warm } from "./figures.ts";
import type { PeerSettings } from "./peer-process.ts";
import { treeCpuMs } from "./server-cpu.ts";

/** Programs of the peers, and what they need: installed into a folder that goes with the bench. */
const PEERS = "test/bench/peers";
/** Each runs with both, and its best counts. */
const AT_ONCE = [64, 256] as const;
const BOUNDS = { rounds: 4, seconds: 4 };

/** A program, and how many workflows it is given in a window. */
interface Contestant {
  readonly program: URL | string;
  readonly workflows: number;
}

/** How a run went: CPU is that of server and process, NaN where there is no /proc. */
interface Run {
  readonly atOnce: number;
  readonly cold: Cost;
  readonly warm: Cost;
}

const OURS: Contestant = { program: programOf("peer-process"), workflows: 1_000 };
const PEER_WORKFLOWS = 300;

/** One server, and a database of its own for each run. */
class Databases {
  readonly #server: PostgresServer;
  #made = 0;

  constructor(server: PostgresServer) {
    this.#server = server;
  }

  cpuMs(): number {
    return treeCpuMs(this.#server.process().pid);
  }

  async make(): Promise<string> {
    const name = `bench_${(this.#made += 1)}`;
    const client = new pg.Client({ connectionString: this.#server.url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    return this.#server.url.replace(/[^/]*$/, name);
  }
}

/** Windows of one run: each begins by a word, and ends by another. */
async function run(
  { program, workflows }: Contestant,
  databases: Databases,
  { url, atOnce }: { readonly url: string; readonly atOnce: number },
): Promise<Run> {
  const child = await startChild(program, { url, workflows, atOnce } satisfies PeerSettings);
  const cpu = (): number => treeCpuMs(child.pid) + databases.cpuMs();
  const window = async (): Promise<Cost> => {
    const before = cpu();
    const { seconds } = await timed(() => child.ask("begin"));
    return { perSecond: workflows / seconds, cpuMs: (cpu() - before) / workflows };
  };
  const [windows] = await inTurns([window], BOUNDS);
  await child.end();
  return { atOnce, cold: windows?.[0] ?? { perSecond: NaN, cpuMs: NaN }, warm: warm(windows) };
}

function installPeers(folder: string): void {
  cpSync(PEERS, folder, { recursive: true });
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
  execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

/** With each number at once, on databases of their own; the fastest run. */
async function fastest(contestant: Contestant, databases: Databases, file?: string): Promise<Run> {
  const runs: Run[] = [];
  for (const atOnce of AT_ONCE) {
    const url = file === undefined ? await databases.make() : `${file}-${atOnce}.db`;
    runs.push(await run(contestant, databases, { url, atOnce }));
  }
  return runs.reduce((best, other) => (other.warm.perSecond > best.warm.perSecond ? other : best));
}

function reportRun(name: string, { atOnce, cold, warm: made }: Run, ours?: Run): void {
  report({
    name: `peers, ${name}`,
    perSecond: made.perSecond,
    ...(ours === undefined ? {} : { "paystate, times this": ours.warm.perSecond / made.perSecond }),
    "CPU ms each, server included": made.cpuMs,
    "at once": atOnce,
    "cold /s": Math.round(cold.perSecond),
  });
}

/** Reports workflows per second of ours, of peers, and of ours in a file. */
export async function benchPeers(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  installPeers(folder);
  const server = await startPostgres({ fsync: "on", full_page_writes: "on" });
  const databases = new Databases(server);
  try {
    const ours = await fastest(OURS, databases);
    reportRun("PostgreSQL, paystate", ours);
    for (const name of ["dbos", "openworkflow"]) {
      const program = join(folder, `${name}.mjs`);
      const peer = { program, workflows: PEER_WORKFLOWS };
      reportRun(`PostgreSQL, ${name}`, await fastest(peer, databases), ours);
    }
    reportRun("SQLite, paystate", await fastest(OURS, databases, join(folder, "peers")));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
