/** Projects of `paystate init`, made, installed, checked, killed and started again as a stranger does it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { endPrograms, startProgram, type RunningProgram } from "../readme/programs.ts";
import { firstProgram } from "../readme/quickstarts.ts";
import { link, project, QUIET } from "./project.ts";

/** The folder of a new project, which has passed its own checks. */
interface NewProject {
  readonly folder: string;
  /** `npm` with these arguments, in the folder. */
  npm(...args: readonly string[]): RunningProgram;
}

/** Makes a project in an empty folder outside all others. */
async function inNewProject(kind: string, act: (made: NewProject) => Promise<void>): Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), "paystate-init-"));
  const folder = join(parent, "shop");
  const toEnd = (cwd: string, command: string, ...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
    assert.equal(status, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
    return stdout;
  };
  const PORT = String(await freePort());
  try {
    const said = toEnd(parent, join(project, "node_modules/.bin/paystate"), "init", kind, "shop");
    assert.match(said, / {2}cd shop\n {2}npm install\n {2}npm start\n$/);
    // The command came from the tarball, and so does the package of the new project.
    toEnd(folder, "npm", "install", ...QUIET);
    // Only that of Node 20 has an install script, which was not run.
    if (process.versions.node.startsWith("20.")) link(folder, ["better-sqlite3"]);
    if (kind === "engine") writeFileSync(join(folder, "first.ts"), firstProgram());
    toEnd(folder, "npm", "run", "typecheck");
    toEnd(folder, "npm", "test");
    await act({ folder, npm: (...args) => startProgram("npm", args, { cwd: folder, env: { PORT } }) });
  } finally {
    await endPrograms();
    rmSync(parent, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Adds the tests to those of the package. */
export function testNewProjects(): void {
  test("U1: the chart of a new project is killed and goes on", { timeout: 300_000 }, () =>
    inNewProject("engine", async ({ npm }) => {
      await npm("start").says(/order-1 begins: charging\ncharging 4242/);
      await endPrograms();
      const again = npm("start");
      await again.says(/order-1 goes on: \w+/);
      assert.equal(await again.ended, 0, again.output());
      assert.match(again.output(), /order-1 has ended: sent, receipt order-1:/);
    }),
  );

  test("U1: the payment of a new project is completed by the start after a kill", { timeout: 300_000 }, () =>
    inNewProject("payments", async ({ npm }) => {
      await npm("start").says(/listening on/);
      await npm("run", "pay").says(/order-1 is taken as (\S+)/);
      await endPrograms();
      await npm("start").says(/listening on/);
      const paid = npm("run", "pay");
      assert.equal(await paid.ended, 0, paid.output());
      assert.match(paid.output(), /order-1 is completed: [1-9A-HJ-NP-Za-km-z]{80,}/);
    }),
  );
}
