/** A PostgreSQL server of the tests' own: in a folder of its own, on a free port of 127.0.0.1, gone when it is stopped. */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);

/** A server that runs until it is stopped. */
export interface PostgresServer {
  /** Where it keeps its data. */
  readonly data: string;
  /** Of its superuser and its first database. */
  readonly url: string;
  readonly port: number;
  /** The server's process: what a test may freeze, or kill. */
  readonly process: () => ChildProcess;
  /** As a loss of power would: every process of it is gone at once. */
  kill(): Promise<void>;
  /** After `kill`: on the same port, with what it had on its disk. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Where Debian keeps the programs of its versions, and where others do. */
const PLACES = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"];

/** The folder of `initdb` and `postgres`, of the newest version here; null where there is none. */
export function postgresPrograms(): string | null {
  const installed = PLACES.filter((place) => existsSync(place))
    .flatMap((place) => readdirSync(place).map((version) => join(place, version, "bin")))
    .filter((folder) => existsSync(join(folder, "initdb")));
  return installed.toSorted().at(-1) ?? null;
}

/** PostgreSQL refuses to run as root: where the tests do, the server runs as the user that its package has made. */
export function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Whether what is acknowledged must survive a loss of power of the machine, which no test brings about. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "200",
  shared_buffers: "64MB",
  listen_addresses: "127.0.0.1",
  logging_collector: "off",
};

/**
 * Makes and starts a server.
 * @throws Error when there are no programs of PostgreSQL, or the server does not come up, with what it said.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  return serve(async ({ programs, user, folder, data }) => {
    const initialize = ["--no-sync", "--auth=trust", "--username=paystate", "--encoding=UTF8", "--no-locale"];
    await run(join(programs, "initdb"), [...initialize, data], { ...user, cwd: folder });
    const given = Object.entries({ ...SETTINGS, ...settings, unix_socket_directories: folder });
    const lines = given.map(([name, value]) => `${name} = '${value}'\n`);
    await writeFile(join(data, "postgresql.auto.conf"), lines.join(""));
  });
}

/** Makes and starts a standby: a copy of this server that follows it by streaming replication, and takes no writes. */
export function startStandby({ port: primary }: PostgresServer): Promise<PostgresServer> {
  return serve(async ({ programs, user, folder, data }) => {
    const from = ["-h", "127.0.0.1", "-p", String(primary), "-U", "paystate", "-D", data];
    const copy = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"];
    await run(join(programs, "pg_basebackup"), [...from, ...copy], { ...user, cwd: folder });
  });
}

/** Makes a base backup of this server in a new folder. */
export async function baseBackup({ port }: PostgresServer, folder: string): Promise<void> {
  const from = ["-h", "127.0.0.1", "-p", String(port), "-U", "paystate", "-D", folder];
  await run(join(postgresPrograms() ?? "", "pg_basebackup"), [...from, "--checkpoint=fast", "--no-sync"], {
    ...unprivileged(),
    cwd: tmpdir(),
  });
}

/** Makes and starts a server of a base backup: it brings back all that `restoreCommand` has, and goes on from there. */
export function startRestored(base: string, restoreCommand: string): Promise<PostgresServer> {
  return serve(async ({ user, folder, data }) => {
    await run("cp", ["-a", base, data], { ...user, cwd: folder });
    await writeFile(join(data, "recovery.signal"), "");
    await appendFile(join(data, "postgresql.auto.conf"), `restore_command = '${restoreCommand}'\n`);
  });
}

interface Place {
  readonly programs: string;
  readonly user: { readonly uid?: number; readonly gid?: number };
  readonly folder: string;
  readonly data: string;
}

/** Runs a server in a folder of its own, once `make` has made its data. */
async function serve(make: (place: Place) => Promise<void>): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === null) throw new Error("there is no PostgreSQL here: apt-get install postgresql");
  const user = unprivileged();
  const folder = await mkdtemp(join(tmpdir(), "paystate-postgres-"));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  await chmod(folder, 0o700);
  const data = join(folder, "data");
  await make({ programs, user, folder, data });
  const port = await freePort();
  const url = `postgres://paystate@127.0.0.1:${port}/postgres`;

  const start = async (): Promise<ChildProcess> => {
    const server = spawn(join(programs, "postgres"), ["-D", data, "-p", String(port), "-k", folder], {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    server.stderr?.on("data", (text: Buffer) => (said = `${said}${text.toString()}`.slice(-4_000)));
    // A run that is ended without a word takes its server with it.
    const end = (): void => void server.kill("SIGQUIT");
    process.once("exit", end);
    server.once("exit", () => process.off("exit", end));
    for (let tries = 0; !(await answers(url)); tries += 1) {
      if (server.exitCode !== null || tries > 2_000) throw new Error(`PostgreSQL did not start: ${said}`);
      await sleep(50);
    }
    return server;
  };
  let server = await start();
  const ended = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await exit;
  };
  return {
    data,
    url,
    port,
    process: () => server,
    kill: () => ended("SIGQUIT"),
    async restart() {
      server = await start();
    },
    async stop() {
      await ended("SIGQUIT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether a server, or what stands before it, takes a question. */
export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** A port of 127.0.0.1 that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
