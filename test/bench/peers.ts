/** Durable workflows of four steps on one PostgreSQL, beside what others make durable on the same server, and beside SQLite. */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../kit/postgres-server.ts";
import { percentile, type Report, type Warmed, warmed } from "./figures.ts";
import type { PeerDone, PeerSettings } from "./peer-process.ts";
import { serverCpuMs } from "./server-cpu.ts";

/** Programs of the peers, and what they need: installed into a folder that goes with the bench. */
const PEERS = "test/bench/peers";
const OURS = fileURLToPath(new URL("./peer-process.js", import.meta.url));
/** Each is warmed with all of these, and its best counts. */
const AT_ONCE = [16, 64, 256];
const PROCESSES = [2, 4];
/** In a window. */
const WORKFLOWS = { ours: 2_000, peers: 600, alone: 300 } as const;
/** What a killed process has in hand. */
const HELD = 16;
/** The default of `leaseMs`. */
const LEASE_MS = 15_000;

interface Contestant {
  readonly name: string;
  readonly program: string;
  readonly workflows: number;
}

/** How one window of a run went. */
interface Run {
  readonly name: string;
  readonly atOnce: number;
  readonly perSecond: number;
  /** Of server and processes for each workflow; absent where there is no /proc. */
  readonly cpuMs: number | undefined;
  readonly commitMs: readonly number[];
}

interface Task {
  readonly url: string;
  readonly server: PostgresServer;
  readonly atOnce: number;
  readonly processes: number;
}

async function started(program: string, settings: PeerSettings): Promise<ChildProcess> {
  const child = fork(program, [JSON.stringify(settings)], { execArgv: ["--no-deprecation"] });
  await said(child);
  return child;
}

async function said<T>(child: ChildProcess): Promise<T> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, "exit", { signal }).then((): never => {
    throw new Error(`${child.spawnfile} ended without a word`);
  });
  try {
    const [message] = (await Promise.race([once(child, "message", { signal }), ended])) as [T];
    return message;
  } finally {
    waiting.abort();
  }
}

async function killed(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Windows of one run: in each, all processes get the word to begin, and the last of them ends it. */
async function run({ name, program, workflows }: Contestant, task: Task): Promise<Warmed<Run>> {
  const { url, server, atOnce, processes } = task;
  const each = Math.ceil(workflows / processes);
  const children = await Promise.all(
    Array.from({ length: processes }, () => started(program, { url, workflows: each, atOnce })),
  );
  const pids = [server.process().pid, ...children.map(({ pid }) => pid)];
  const cpu = (): number => pids.reduce((sum: number, pid) => sum + (serverCpuMs(pid ?? 0) ?? NaN), 0);
  const window = async (): Promise<Run> => {
    const before = cpu();
    const began = performance.now();
    const done = children.map((child) => said<Partial<PeerDone>>(child));
    for (const child of children) child.send("begin");
    const figures = await Promise.all(done);
    const seconds = (performance.now() - began) / 1_000;
    const used = (cpu() - before) / (each * processes);
    return {
      name,
      atOnce,
      perSecond: (each * processes) / seconds,
      cpuMs: Number.isNaN(used) ? undefined : used,
      commitMs: figures.flatMap(({ commitMs }) => commitMs ?? []),
    };
  };
  const [found] = await warmed([window]);
  await Promise.all(children.map(killed));
  if (found === undefined) throw new Error(`${name} was not measured`);
  return found;
}

/** Databases of one server: each run has its own. */
class Databases {
  readonly #server: PostgresServer;
  #made = 0;

  constructor(server: PostgresServer) {
    this.#server = server;
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

const faster = (one: Warmed<Run> | undefined, other: Warmed<Run>): Warmed<Run> =>
  one !== undefined && one.warm.perSecond >= other.warm.perSecond ? one : other;

function installPeers(folder: string): void {
  cpSync(PEERS, folder, { recursive: true });
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
  execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

/** Of each the number at once with which it is fastest. */
async function bestRuns(
  contestants: readonly Contestant[],
  server: PostgresServer,
  databases: Databases,
): Promise<ReadonlyMap<string, Warmed<Run>>> {
  const best = new Map<string, Warmed<Run>>();
  for (const atOnce of AT_ONCE) {
    for (const contestant of contestants) {
      const url = await databases.make();
      const made = await run(contestant, { url, server, atOnce, processes: 1 });
      best.set(contestant.name, faster(best.get(contestant.name), made));
    }
  }
  return best;
}

function reportRun(
  report: Report,
  { cold, warm: made }: Warmed<Run>,
  compared: { readonly [fact: string]: number },
): void {
  report({
    name: made.name,
    perSecond: made.perSecond,
    "cold /s": Math.round(cold.perSecond),
    "at once": made.atOnce,
    ...(made.cpuMs === undefined ? {} : { "CPU ms each, server included": made.cpuMs }),
    ...compared,
    ...(made.commitMs.length === 0
      ? {}
      : {
          "commit p50 ms": percentile(made.commitMs, 0.5),
          "commit p99 ms": percentile(made.commitMs, 0.99),
        }),
  });
}

/** How long after a SIGKILL another process had done the first and the last of what the killed one had in hand. */
async function reportTakeover(report: Report, url: string): Promise<void> {
  const settings = { url, workflows: HELD, atOnce: HELD };
  const victim = await started(OURS, { ...settings, role: "hold" });
  const other = await started(OURS, { ...settings, role: "take" });
  victim.send("begin");
  await untilHeld(url);
  other.send("begin");
  const began = performance.now();
  const after: number[] = [];
  const allTaken = new Promise<void>((resolve) => {
    other.on("message", () => {
      if (after.push(performance.now() - began) === HELD) resolve();
    });
  });
  await killed(victim);
  await allTaken;
  await killed(other);
  report({
    name: `PostgreSQL, takeover of ${HELD} after SIGKILL`,
    "lease s": LEASE_MS / 1_000,
    "first s": (after[0] ?? 0) / 1_000,
    "last s": (after.at(-1) ?? 0) / 1_000,
  });
}

async function untilHeld(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const held = "select count(*)::int as held from paystate.tasks where holder is not null";
  for (;;) {
    const { rows } = await client.query<{ held: number }>(held);
    if (rows[0]?.held === HELD) break;
  }
  await client.end();
}

/** Reports workflows per second of ours and of peers, of ours in several processes and in a file, and the takeover. */
export async function benchPeers(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  installPeers(folder);
  const server = await startPostgres({ fsync: "on", full_page_writes: "on" });
  const databases = new Databases(server);
  const ours = { name: "PostgreSQL, paystate", program: OURS, workflows: WORKFLOWS.ours };
  const peers = ["dbos", "openworkflow"].map((name) => ({
    name: `PostgreSQL, ${name}`,
    program: join(folder, `${name}.mjs`),
    workflows: WORKFLOWS.peers,
  }));
  try {
    const best = await bestRuns([ours, ...peers], server, databases);
    const better = Math.max(...peers.map(({ name }) => best.get(name)?.warm.perSecond ?? 0));
    for (const made of best.values()) {
      reportRun(
        report,
        made,
        made.warm.name === ours.name ? { "of the better peer": made.warm.perSecond / better } : {},
      );
    }
    const one = best.get(ours.name)?.warm;
    if (one === undefined) return;
    for (const processes of PROCESSES) {
      const contestant = { ...ours, name: `${ours.name}, ${processes} processes` };
      const task = { url: await databases.make(), server, atOnce: one.atOnce, processes };
      const made = await run(contestant, task);
      reportRun(report, made, { "of one": made.warm.perSecond / one.perSecond });
    }
    const alone = { ...ours, name: `${ours.name}, alone`, workflows: WORKFLOWS.alone };
    const url = await databases.make();
    reportRun(report, await run(alone, { url, server, atOnce: 1, processes: 1 }), {});
    const inFile = { ...ours, name: "SQLite, paystate" };
    const file = { url: join(folder, "peers.db"), server, atOnce: one.atOnce, processes: 1 };
    reportRun(report, await run(inFile, file), {});
    await reportTakeover(report, await databases.make());
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
