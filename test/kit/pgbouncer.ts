/** PgBouncer in front of a PostgreSQL server, handing out connections per transaction. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { answers, freePort, unprivileged } from "./postgres-server.ts";

const PROGRAM = ["/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"].find((path) => existsSync(path));

/** Whether it is installed. */
export const HAS_PGBOUNCER = PROGRAM !== undefined;

/** The pooler, until it is stopped. */
export interface Pgbouncer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it before the server of this URL. Two connections serve everything, so that clients share them. */
export async function startPgbouncer(target: string): Promise<Pgbouncer> {
  if (PROGRAM === undefined) throw new Error("there is no PgBouncer here: apt-get install pgbouncer");
  const { hostname, port: serverPort, username, pathname } = new URL(target);
  const folder = await mkdtemp(join(tmpdir(), "paystate-pgbouncer-"));
  // It refuses to run as root, and its user reads what is here.
  await chmod(folder, 0o755);
  const port = await freePort();
  const lines = [
    "[databases]",
    `* = host=${hostname} port=${serverPort} user=${username}`,
    "[pgbouncer]",
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 2",
    "max_client_conn = 200",
  ];
  const settings = join(folder, "pgbouncer.ini");
  await writeFile(settings, `${lines.join("\n")}\n`);
  const child = spawn(PROGRAM, [settings], { ...unprivileged(), stdio: "ignore" });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`;
  for (let tries = 0; !(await answers(url)); tries += 1) {
    if (child.exitCode !== null || tries > 4_000) throw new Error("PgBouncer did not start");
    await sleep(25);
  }
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
