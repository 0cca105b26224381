/** What is in the tarball: imported, compiled against, run. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import Database from "better-sqlite3";
import bs58 from "bs58";
import { blockOf, linksOf, PAGES } from "../readme/page.ts";
import { startProgram, type RunningProgram } from "../readme/programs.ts";
import { sendSol } from "../readme/send-sol.ts";
import { testBuilds } from "./builds.ts";
import { testBundles } from "./bundles.ts";
import { testNest } from "./nest.ts";
import { testNodeSqlite } from "./node-sqlite.ts";
import { testSettings } from "./settings.ts";
import { testNewProjects } from "./new-projects.ts";
import { testPagePrograms } from "./page-programs.ts";
import { testPrintedLines } from "./printed-lines.ts";
import {
  attempt,
  bring,
  project,
  QUIET,
  readJson,
  root,
  run,
  specifiers,
  tarball,
  without,
} from "./project.ts";

/** What only some consumers have or want: an entry that is for everybody must load in their absence. */
const HEAVY = ["@solana", "better-sqlite3", "pg", "prom-client"];
/** The entries whose business is a chain, a database or a registry of metrics. */
const HEAVY_ENTRIES = new Set(["paystate/storage/sqlite", "paystate/prometheus"]);
/** Bundled or replaced by the build, and not to be seen in a consumer's tree. */
const UNWANTED = ["kysely", "bigint-buffer", "@solana/spl-token", "litesvm", "@solana/kit"];
function importAll(names: readonly string[]): void {
  const source = names.map((name) => `await import(${JSON.stringify(name)});`).join("\n");
  run(process.execPath, "--input-type=module", "--eval", source);
}

test("every subpath of `exports` can be imported", () => {
  importAll(specifiers);
});

test("every subpath of `exports` can be required by a CommonJS program", () => {
  const source = specifiers.map((name) => `require(${JSON.stringify(name)});`).join("\n");
  assert.equal(run(process.execPath, "--input-type=commonjs", "--eval", source), "");
});

test("declarations keep their names: no editor shows a type of one letter", () => {
  const folder = join(project, "node_modules/paystate/dist");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".d.ts"),
  );
  const short = names.flatMap(
    (name) => readFileSync(join(folder, name), "utf8").match(/^export .*\b\w+ as \w\b.*$/gm) ?? [],
  );
  assert.deepEqual(short, []);
});

test("the entries for everybody load neither web3.js nor a database driver", () => {
  without(HEAVY, () => {
    importAll(specifiers.filter((specifier) => !HEAVY_ENTRIES.has(specifier)));
  });
});

test("a ledger and a local chain without web3.js say what to install, once they are asked, and so does `paystate dev`", () => {
  const source = `
    import { systemClock } from "paystate/engine";
    import { createLocalChain } from "paystate/local";
    import { solanaLedger } from "paystate/solana";
    const ledger = solanaLedger({ endpoints: ["http://127.0.0.1:8899"] });
    const message = (error) => error.message;
    console.log(await ledger.genesisHash().catch(message));
    console.log(await createLocalChain({ clock: systemClock }).catch(message));
  `;
  without(["@solana"], () => {
    assert.match(
      run(process.execPath, "--input-type=module", "--eval", source),
      /^(payments and the local chain need .*: npm install @solana\/web3\.js@1 \S+\n){2}$/,
    );
    const { output } = attempt(join(project, "node_modules/.bin/paystate"), "dev");
    assert.match(output, /payments and the local chain need .*: npm install @solana\/web3\.js@1/);
  });
});

test("an engine is installed beside undici 6, ws 7 and web3.js 2, and brings at most 15 packages", () => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-engine-"));
  const npm = (...args: readonly string[]): void => {
    const { status, stdout, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, `npm ${args.join(" ")}\n${stdout}${stderr}`);
  };
  try {
    writeFileSync(join(folder, "package.json"), '{ "name": "engine", "private": true, "type": "module" }');
    // Without the runtime of the local chain, as production installs it.
    npm("install", tarball, "xstate", "--omit=optional", ...QUIET);
    assert.ok(packagesIn(folder).length <= 15, packagesIn(folder).join(" "));
    npm("install", "undici@6", "ws@7", "@solana/web3.js@2", ...QUIET);
    const source = "import { createEngine } from 'paystate/engine'; console.log(typeof createEngine);";
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", source], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.equal(stdout, "function\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The packages that npm has put into a folder. */
function packagesIn(folder: string): readonly string[] {
  const { packages } = readJson(join(folder, "node_modules/.package-lock.json")) as {
    readonly packages: Readonly<Record<string, unknown>>;
  };
  return Object.keys(packages);
}

test("every subpath has types that a strict project compiles against, declarations checked too", () => {
  const lines = specifiers.map(
    (specifier, index) =>
      `import * as entry${index} from "${specifier}";\n` +
      `// @ts-expect-error Without types the entry would be any, and any is a string.\n` +
      `export const text${index}: string = entry${index};\n`,
  );
  // What the engine runs a workflow by may change at any time.
  lines.push(
    `import type { AnyWorkflow } from "paystate/engine";\n` +
      `export const shown: Record<keyof AnyWorkflow, true> = { machine: true, name: true, version: true, key: true };\n`,
  );
  writeFileSync(join(project, "consumer.ts"), lines.join(""));
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
  const { output } = attempt(process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", project);
  // Other people's declarations do not all pass this strictness; an error of ours stands at ours, or at no file at all.
  const ours = output
    .split("\n")
    .filter((line) => /error TS/.test(line) && !/^node_modules\/(?!paystate\/)/.test(line));
  assert.deepEqual(ours, []);
});

test("options have their documentation in the declarations", () => {
  const folder = join(project, "node_modules/paystate/dist");
  const declarations = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".d.ts"),
  );
  const text = declarations.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  for (const option of [
    "leaseMs",
    "feeBps",
    "proxy",
    "basePath",
    "clientAddress",
    "spreadBps",
    "confirmedAfter",
  ]) {
    assert.match(text, new RegExp(`\\*/\\s+${option}: z\\.`), `${option} has no comment`);
  }
});

test("an install brings no package with a known advisory and nothing that was bundled", () => {
  const lock = readJson(join(project, "package-lock.json")) as { packages: Record<string, unknown> };
  const installed = new Set(Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, "")));
  assert.deepEqual(
    UNWANTED.filter((name) => installed.has(name)),
    [],
  );
});

test("a host commits a step with a row of its own, in a file without a payment table", () => {
  bring("examples/own-table", "main");
  assert.match(run(process.execPath, "main.js", "parcels.db"), /^parcel-1 is in the van, seen 2 times/);
  const database = new Database(join(project, "parcels.db"), { readonly: true });
  const names = database.prepare("select name from sqlite_master where type = 'table' order by name").pluck();
  assert.deepEqual(names.all(), [
    "parcels",
    "paystateCharts",
    "paystateHistory",
    "paystateInstances",
    "paystateLeases",
    "paystateLimits",
    "paystateSchedules", // modules: schedules
    "paystateSchema",
    "paystateSearch",
    "paystateStarts", // modules: rates
    "paystateTables",
    "paystateTasks",
    "paystateTotals",
    "paystateWatches",
  ]);
  database.close();
});

test("the contract that is in the tarball runs against a storage of anybody's", () => {
  const runner = `
    import { sqliteStorage } from "paystate/storage/sqlite";
    import { storageContract } from "paystate/testing";
    for (const { run } of storageContract) {
      const storage = await sqliteStorage(":memory:");
      await run(async () => ({ open: async () => ({ ...storage, close: async () => {} }), destroy: storage.close }));
    }
    console.log(storageContract.length > 100);
  `;
  assert.equal(run(process.execPath, "--input-type=module", "--eval", runner), "true\n");
});

test("each link of each page in the package leads to a file of the package", () => {
  const folder = join(project, "node_modules/paystate");
  const pages = PAGES.filter((page) => existsSync(join(folder, page)));
  assert.ok(pages.length > 15 && pages.length <= 20 && !pages.includes("CONTRIBUTING.md"));
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .map((link) => link.split("#")[0] ?? "")
      .filter((path) => path !== "" && !existsSync(join(folder, dirname(page), path)))
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(dead, []);
});

test("the command says how it is used", () => {
  assert.match(run(join(project, "node_modules/.bin/paystate"), "--help"), /paystate/);
});

test(
  "U5: the embedded server of the service's page takes a payment to its end over `paystate dev`, and a restart makes no second account",
  { timeout: 120_000 },
  async () => {
    const options = ["--port", "0", "--rpc-port", "0", "--slot-ms", "20", "--data", "dev", "--json"];
    const dev = startProgram(join(project, "node_modules/.bin/paystate"), ["dev", ...options], {
      cwd: project,
    });
    const [line] = await dev.says(/^\{.*\}$/m);
    const { baseUrl, rpcUrl, wallets } = JSON.parse(line) as {
      baseUrl: string;
      rpcUrl: string;
      wallets: readonly { address: string; secretKey: string }[];
    };
    const [alice, bob] = wallets;
    assert.ok(alice !== undefined && bob !== undefined);

    writeFileSync(join(project, "server.mjs"), blockOf("src/service/README.md", "ts embed"));
    // The port after the one that was free for `paystate dev`; should it be taken, the server says so and the test fails.
    const PORT = String(Number(new URL(baseUrl).port) + 1);
    const env = { RPC_URL: rpcUrl, MASTER_SECRET: "ab".repeat(32), PORT };
    const start = (): RunningProgram => startProgram(process.execPath, ["server.mjs"], { cwd: project, env });
    const server = start();
    const [, url = ""] = await server.says(/listening on (\S+)/);
    const [key = ""] =
      /ps_test_\S+/.exec(run("bash", "-c", blockOf("src/service/README.md", "sh key"))) ?? [];
    const transactionId = await sendSol(
      { url, key },
      { from: bs58.decode(alice.secretKey), to: bob.address },
    );
    await server.says(new RegExp(`${transactionId} transaction\\.completed`));
    assert.equal(await server.stop(), 0, server.output());

    const again = start();
    await again.says(/listening on/);
    const listed = run("npx", "paystate", "account", "list", "--database", "payments.db", "--json");
    assert.equal((JSON.parse(listed) as readonly unknown[]).length, 1);
    assert.equal(await again.stop(), 0, again.output());
    assert.equal(await dev.stop(), 0, dev.output());
  },
);

testNewProjects();
testPrintedLines();
testPagePrograms();
testSettings();
testNest();
testNodeSqlite();
testBundles();
testBuilds();
