/** A project without better-sqlite3, on Nodes that bring a driver of SQLite: it does what it does with better-sqlite3. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { bring, project, without } from "./project.ts";
import { installed, WITH_SQLITE } from "./runtimes.ts";

/** What a program of the project writes, in a folder of its own. */
function said(node: string, program: string, ...args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "paystate-node-sqlite-"));
  try {
    // Node says of its driver that it is experimental.
    const given = ["--no-warnings", join(project, `${program}.js`), folder, ...args];
    const { status, stdout, stderr } = spawnSync(node, given, { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What it writes where the project has no driver. */
function saidAlone(name: string, program: string, ...args: readonly string[]): string {
  let stdout = "";
  without(["better-sqlite3"], () => (stdout = said(installed(name).command, program, ...args)));
  return stdout;
}

/** Adds the tests to those of the package. */
export function testNodeSqlite(): void {
  before(() => bring("test/package/hosts", "answers", "contract", "sqlite-handle"));

  for (const name of WITH_SQLITE) {
    test(`node:sqlite of Node ${name} keeps the contract of storages`, { timeout: 600_000 }, () => {
      assert.match(saidAlone(name, "contract"), /^\d{3} promises\n$/);
    });

    // Before Node 22.16 it copies nothing.
    const parts = name === "22.13" ? ["no copies"] : [];
    test(`node:sqlite of Node ${name} answers as better-sqlite3 does`, { timeout: 600_000 }, () => {
      const expected = said(process.execPath, "answers", ...parts);
      assert.deepEqual(saidAlone(name, "answers", ...parts).split("\n"), expected.split("\n"));
    });
  }
}
