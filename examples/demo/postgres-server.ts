/** A PostgreSQL server of the demo's own, where its programs are installed: on a free port of 127.0.0.1, gone with the demo. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { atTheEnd } from "./clean-up.ts";

/** Where Debian and Homebrew keep the programs of each version. */
const PLACES = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"];

/** What a server says on stderr once it takes connections. */
const READY = "database system is ready to accept connections";

/** Starts it and answers the URL of its superuser. It is ended, and its folder removed, with the demo. */
export async function startPostgres(): Promise<string> {
  const programs = programsFolder();
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "paystate-demo-postgres-"));
  atTheEnd(() => rmSync(folder, { recursive: true, force: true }));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const initialize = ["--no-sync", "--auth=trust", "--username=paystate", "--encoding=UTF8", "--no-locale"];
  execFileSync(join(programs, "initdb"), [...initialize, data], { ...user, cwd: folder, stdio: "pipe" });
  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    "unix_socket_directories=",
    "lc_messages=C",
  ];
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    // Detached, so that Ctrl-C ends it after the service that works on it, and not before.
    { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  const ended = new Promise((resolve) => server.once("exit", resolve));
  atTheEnd(async () => {
    // At once: what it has goes with its folder.
    server.kill("SIGQUIT");
    await ended;
  });
  await new Promise<void>((resolve, reject) => {
    const said: string[] = [];
    createInterface({ input: server.stderr }).on("line", (line) => {
      if (line.includes(READY)) resolve();
      said.push(line);
    });
    void ended.then(() => reject(new Error(`PostgreSQL did not start: ${said.join(" ")}`)));
  });
  return `postgres://paystate@127.0.0.1:${port}/postgres`;
}

/** The folder of `initdb` and `postgres`, of the newest version here. */
function programsFolder(): string {
  const installed = PLACES.filter((place) => existsSync(place))
    .flatMap((place) => readdirSync(place).map((version) => join(place, version, "bin")))
    .filter((folder) => existsSync(join(folder, "initdb")));
  const newest = installed.toSorted((one, other) => one.localeCompare(other, "en", { numeric: true })).at(-1);
  return (
    newest ?? assert.fail("no PostgreSQL is installed here: install it, or give --postgres the URL of one")
  );
}

/** PostgreSQL refuses to run as root: there it runs as the user that its package has made. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
