/** The lines of shell on the first page and in the guide, run by a reader in an empty folder, with the name on a registry. */
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

const ENGINE = "src/engine/README.md";

const linesOf = (page: string, fence: string): readonly string[] => blockOf(page, fence).trim().split("\n");

/** Adds the tests to those of the package. */
export function testPrintedLines(): void {
  test("U2: the engine's chart is installed and run by the lines above it", { timeout: 300_000 }, () =>
    inEmptyFolder(async (folder, run) => {
      await run("npm init -y");
      const [install = "", start = "", ...more] = linesOf(ENGINE, "sh engine");
      assert.deepEqual(more, []);
      const [, file = ""] = / as (\S+)$/.exec(install) ?? [];
      await run(install);
      // The newest driver does not run on Node 20, as its error says; that of the tests fits each Node.
      link(folder, ["better-sqlite3"]);
      writeFileSync(join(folder, file), blockOf(ENGINE, "ts engine"));
      assert.match(await run(start), /^receipt to ada@example\.com$/m);
    }),
  );

  test("U2: each `npx` of the first page writes a project", { timeout: 300_000 }, () =>
    inEmptyFolder(async (folder, run) => {
      for (const line of linesOf("README.md", "sh init")) {
        const [, name = ""] = /init \w+ (\w+)/.exec(line) ?? [];
        assert.match(await run(line), new RegExp(`A project is in ${name}`));
        const manifest: unknown = JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"));
        assert.equal((manifest as { readonly name: string }).name, name);
      }
    }),
  );
}
