/** The lines that the first page prints, run by a reader in an empty folder, where the name is on a registry. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { blockOf } from "../readme/page.ts";
import { endPrograms, startProgram } from "../readme/programs.ts";
import { loopbackRegistry } from "./loopback-registry.ts";
import { link } from "./project.ts";

/** Runs a line to its end, and returns what it wrote. */
type RunLine = (line: string) => Promise<string>;

async function inEmptyFolder(act: (folder: string, run: RunLine) => Promise<void>): Promise<void> {
  const registry = await loopbackRegistry();
  const folder = mkdtempSync(join(tmpdir(), "paystate-printed-"));
  const env = {
    npm_config_registry: registry.url,
    npm_config_ignore_scripts: "true",
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    // What a reader answers who is asked whether npx may fetch a package.
    npm_config_yes: "true",
    // Nothing is taken from, nor left in, what this machine has of the name.
    npm_config_cache: join(folder, ".npm"),
  };
  try {
    await act(folder, async (line) => {
      const program = startProgram("bash", ["-c", line], { cwd: folder, env });
      assert.equal(await program.ended, 0, `${line}\n${program.output()}`);
      return program.output();
    });
  } finally {
    await endPrograms();
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const linesOf = (fence: string): readonly string[] => blockOf("README.md", fence).trim().split("\n");

/** Adds the tests to those of the package. */
export function testPrintedLines(): void {
  test("U2: the first page's chart is installed and run by the lines above it", { timeout: 300_000 }, () =>
    inEmptyFolder(async (folder, run) => {
      await run("npm init -y");
      const [install = "", start = "", ...more] = linesOf("sh credit");
      assert.deepEqual(more, []);
      const [, file = ""] = / as (\S+)$/.exec(install) ?? [];
      await run(install);
      // The newest driver does not run on Node 20, as its error says; that of the tests fits each Node.
      link(folder, ["better-sqlite3"]);
      writeFileSync(join(folder, file), blockOf("README.md", "ts credit"));
      assert.match(await run(start), /asking Gammagamma[^]*\n(approved|declined)\n$/);
    }),
  );

  test("U2: the first page's `npx` writes a project", { timeout: 300_000 }, () =>
    inEmptyFolder(async (folder, run) => {
      const [init = ""] = linesOf("sh init");
      assert.match(await run(init), /A project is in shop/);
      const manifest: unknown = JSON.parse(readFileSync(join(folder, "shop/package.json"), "utf8"));
      assert.equal((manifest as { readonly name: string }).name, "shop");
    }),
  );
}
