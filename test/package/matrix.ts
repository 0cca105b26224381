/**
 * The packed package on other runtimes: `npm run matrix`, or `npm run matrix -- 22 bun` for some. Each takes a payment
 * and keeps the contract of storages; each Node runs a part of the tests, too. Too long for CI.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { startProgram } from "../readme/programs.ts";
import { payThrough } from "./pay-through.ts";
import { bring, project, root } from "./project.ts";
import { installed, RUNTIME_NAMES, type Runtime } from "./runtimes.ts";

/** What differs between versions of Node: HTTP, streams, sockets, timers, SQLite. */
const PARTS = ["test/engine", "test/http", "test/client", "test/receiver", "test/storage/sqlite"];

before(() => bring("test/package/hosts", "host", "serve", "contract"));

/** Puts the runtime's own driver where the package finds it. */
function useDriver({ driver }: Runtime): void {
  const place = join(project, "node_modules/better-sqlite3");
  rmSync(place, { recursive: true, force: true });
  symlinkSync(driver, place);
}

async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-matrix-"));
  try {
    await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The repository once more, with links to what it needs and the runtime's own driver. */
function copyRepository(folder: string, { driver }: Runtime): void {
  for (const name of ["machines", "storage", "src", "examples", "test", "package.json", "tsconfig.json"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    // Compiled programs stand there, which would find the driver beside themselves.
    if (name === ".cache") continue;
    const target = name === "better-sqlite3" ? driver : join(root, "node_modules", name);
    symlinkSync(target, join(folder, "node_modules", name));
  }
}

function testOn(name: string): void {
  test(`${name} takes a payment`, { timeout: 600_000 }, async () => {
    const runtime = installed(name);
    useDriver(runtime);
    await inFolder((cwd) =>
      payThrough(startProgram(runtime.command, [...runtime.args, join(project, "host.js")], { cwd })),
    );
  });

  test(`${name} keeps the contract of storages`, { timeout: 600_000 }, async () => {
    const runtime = installed(name);
    useDriver(runtime);
    await inFolder(async (cwd) => {
      const args = [...runtime.args, join(project, "contract.js"), cwd];
      const program = startProgram(runtime.command, args, { cwd });
      assert.equal(await program.ended, 0, program.output());
    });
  });

  if (name === "bun" || name === "deno") return;
  test(`${name} passes the tests of ${PARTS.join(", ")}`, { timeout: 1_800_000 }, async () => {
    const runtime = installed(name);
    await inFolder(async (cwd) => {
      copyRepository(cwd, runtime);
      const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts"];
      const { status } = spawnSync(runtime.command, [...vitest, "--project", "rest", ...PARTS], {
        cwd,
        stdio: "inherit",
      });
      assert.equal(status, 0);
    });
  });
}

const asked = process.argv.slice(2);
for (const name of asked.length === 0 ? RUNTIME_NAMES : asked) testOn(name);
