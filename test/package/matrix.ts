/**
 * The packed package on other runtimes: `npm run matrix`, or `npm run matrix -- 22 bun` for some. Each takes a payment
 * and keeps the contract of storages; on each Node a fresh clone is installed, shown and tested, too. Too long for CI.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { issueLoopbackCertificate } from "../kit/loopback-certificate.ts";
import { blockOf } from "../readme/page.ts";
import { startProgram } from "../readme/programs.ts";
import { cloneInto, npmOn } from "./clone.ts";
import { payThrough } from "./pay-through.ts";
import { bring, project, QUIET, tarball } from "./project.ts";
import { installed, installedDriver, RUNTIME_NAMES } from "./runtimes.ts";

before(() => bring("test/package/hosts", "host", "serve", "contract", "deliver"));

/** Puts the runtime's own driver where the package finds it. */
function useDriver(name: string): void {
  const place = join(project, "node_modules/better-sqlite3");
  rmSync(place, { recursive: true, force: true });
  symlinkSync(installedDriver(name), place);
}

async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-matrix-"));
  try {
    await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function testOn(name: string): void {
  test(`${name} takes a payment`, { timeout: 600_000 }, async () => {
    const runtime = installed(name);
    useDriver(name);
    await inFolder((cwd) =>
      payThrough(startProgram(runtime.command, [...runtime.args, join(project, "host.js")], { cwd })),
    );
  });

  test(`${name} keeps the contract of storages`, { timeout: 600_000 }, async () => {
    const runtime = installed(name);
    useDriver(name);
    await inFolder(async (cwd) => {
      const args = [...runtime.args, join(project, "contract.js"), cwd];
      const program = startProgram(runtime.command, args, { cwd });
      assert.equal(await program.ended, 0, program.output());
    });
  });

  test(`${name} delivers webhooks, and only where the guard and the certificate allow it`, async () => {
    const runtime = installed(name);
    const receiver = await startHttpsReceiver();
    const { ca: OTHER_CA } = await issueLoopbackCertificate();
    try {
      await inFolder(async (cwd) => {
        const args = [...runtime.args, join(project, "deliver.js")];
        const env = { URL_OF_RECEIVER: receiver.url, CA: receiver.ca, OTHER_CA };
        const program = startProgram(runtime.command, args, { cwd, env });
        assert.equal(await program.ended, 0, program.output());
        const said = program.output().match(/^(?:registered|delivered) .*$/gm);
        const refused = ["registered INVALID_URL", "registered URL_UNREACHABLE"];
        assert.deepEqual(said, ["registered ok", "delivered true", ...refused], program.output());
      });
      assert.equal(receiver.requests.filter(({ method }) => method === "POST").length, 1);
    } finally {
      await receiver.close();
    }
  });

  test(`${name} runs the example of what is kept`, async () => {
    const runtime = installed(name);
    writeFileSync(join(project, "keep.mjs"), blockOf("src/engine/README.md", "ts keep"));
    await inFolder(async (cwd) => {
      const program = startProgram(runtime.command, [...runtime.args, join(project, "keep.mjs")], { cwd });
      assert.equal(await program.ended, 0, program.output());
      assert.equal(program.output(), "7776000000\n");
    });
  });

  if (name === "bun" || name === "deno") return;
  if (name !== "20.19") {
    test(`U1: a new project of the engine runs on ${name}, and nothing is built for it`, async () => {
      const runtime = installed(name);
      await inFolder(async (folder) => {
        const command = join(project, "node_modules/paystate/dist/cli.js");
        const init = startProgram(runtime.command, [command, "init", "engine", "shop"], { cwd: folder });
        assert.equal(await init.ended, 0, init.output());
        const shop = join(folder, "shop");
        // No install script is run.
        await npmOn(runtime, shop, "install", tarball, ...QUIET);
        for (const args of [["run", "typecheck"], ["test"], ["start"]]) await npmOn(runtime, shop, ...args);
      });
    });
  }
  test(
    `a fresh clone is installed, plays its demo and passes its tests on ${name}`,
    { timeout: 1_800_000 },
    async () => {
      const runtime = installed(name);
      await inFolder(async (folder) => {
        cloneInto(folder);
        await npmOn(runtime, folder, "ci", "--prefer-offline");
        await npmOn(runtime, folder, "run", "demo");
        await npmOn(runtime, folder, "test");
      });
    },
  );
}

const asked = process.argv.slice(2);
for (const name of asked.length === 0 ? RUNTIME_NAMES : asked) testOn(name);
