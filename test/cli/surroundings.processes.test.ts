/** Surroundings in which `paystate dev` cannot work: a sentence that says what to do, exit code 1, no stack. */
import { once } from "node:events";
import { appendFile, chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test as vitestTest } from "vitest";
import { hasNodeSqlite } from "../../storage/sqlite/node-sqlite.ts";
import { leaveNothing, newDataFolder, runCommand, withBrokenBinary, withoutPackage } from "./command.ts";
import { call, startDev } from "./dev-session.ts";

afterAll(leaveNothing);

/** `used` is what an earlier start left and said, `copyOfUsed` a copy of its folder to be spoiled, `port` one in use. */
const test = vitestTest
  .extend("used", { scope: "file" }, async ({}) => {
    const folder = await newDataFolder();
    const ready = await startDev(folder);
    await ready.end("SIGTERM");
    return { folder, ready };
  })
  .extend("copyOfUsed", ({ used }) => async () => {
    const folder = await newDataFolder();
    await cp(used.folder, folder, { recursive: true });
    return folder;
  })
  .extend("port", { scope: "file" }, async ({}, { onCleanup }) => {
    const occupant = createServer().listen(0, "127.0.0.1");
    await once(occupant, "listening");
    onCleanup(() => void occupant.close());
    return (occupant.address() as AddressInfo).port;
  });

interface Surroundings {
  readonly folder?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The sentence with which `paystate dev` refuses. */
async function refusal({ folder, args = [], env = {} }: Surroundings): Promise<string> {
  const data = folder ?? (await newDataFolder());
  const ports = ["--port", "0", "--rpc-port", "0"];
  const { code, stdout, stderr } = await runCommand(["dev", "--data", data, ...ports, ...args], env);
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: "" });
  const [, sentence] = /^paystate: (.+)\n$/.exec(stderr) ?? [];
  if (sentence === undefined) throw new Error(`expected one line, got: ${stderr}`);
  return sentence;
}

test.concurrent.for(["--port", "--rpc-port"])("a port in use, and %s is named", async (option, { port }) => {
  expect(await refusal({ args: [option, String(port)] })).toBe(
    `port ${port} is in use: choose another one with ${option}, or 0 for any free one`,
  );
});

test.concurrent("with --debug the whole chain of causes is shown", async ({ port }) => {
  const args = ["dev", "--debug", "--data", await newDataFolder(), "--port", "0", "--rpc-port", String(port)];
  const { code, stderr } = await runCommand(args);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^paystate: Error: port \d+ is in use.*\n +at .*src\/cli\/loopback-server\.ts/);
  expect(stderr).toMatch(/\[cause\]: Error: listen EADDRINUSE/);
});

test.concurrent("a data folder that is a file, or below one", async () => {
  const file = await newDataFolder();
  await writeFile(file, "");
  for (const folder of [file, join(file, "below")]) {
    expect(await refusal({ folder })).toBe(
      `the data folder ${folder} cannot be made or written to: choose another one with --data`,
    );
  }
});

test.concurrent("a data folder that may only be read", async () => {
  const folder = await newDataFolder();
  await mkdir(folder);
  await chmod(folder, 0o555);
  // The mode stops everybody but root; and the kernel's own tree is closed to root too.
  const closed = process.getuid?.() === 0 ? "/sys/paystate" : folder;
  expect(await refusal({ folder: closed })).toBe(
    `the data folder ${closed} cannot be made or written to: choose another one with --data`,
  );
});

test.concurrent("a database of a newer paystate", async ({ copyOfUsed }) => {
  const folder = await copyOfUsed();
  const database = new Database(join(folder, "payments.db"));
  database.prepare("update paystateSchema set version = 3, oldest = 2").run();
  database.close();
  expect(await refusal({ folder })).toBe(
    "this database was written by a newer paystate (schema 3): upgrade paystate, or restore a backup from before",
  );
});

test.concurrent("a database that is none", async ({ copyOfUsed }) => {
  const folder = await copyOfUsed();
  await writeFile(join(folder, "payments.db"), "this is a text and no database\n".repeat(50));
  expect(await refusal({ folder })).toMatch(/^this is no SQLite database: give paystate a path of its own/);
});

test.concurrent("E14: a database of another chain, or of another secret", async ({ copyOfUsed }) => {
  const begun = await copyOfUsed();
  await rm(join(begun, "chain.jsonl"));
  expect(await refusal({ folder: begun })).toMatch(
    new RegExp(
      `^the files in ${begun} do not belong together: restore .+, or remove the folder .+ genesis hash`,
    ),
  );
  const forgotten = await copyOfUsed();
  await rm(join(forgotten, "dev.json"));
  expect(await refusal({ folder: forgotten })).toMatch(
    /^the files in .+ do not belong together: .+masterSecrets/,
  );
});

test.concurrent("a damaged setup", async ({ copyOfUsed }) => {
  const folder = await copyOfUsed();
  const file = join(folder, "dev.json");
  for (const text of ["{", '{ "masterSecret": "short" }']) {
    await writeFile(file, text);
    expect(await refusal({ folder })).toBe(`${file} is damaged: remove ${folder} to begin again`);
  }
});

test.concurrent("a damaged journal", async ({ copyOfUsed }) => {
  const folder = await copyOfUsed();
  const journal = join(folder, "chain.jsonl");
  const lines = (await readFile(journal, "utf8")).split("\n").length;
  await appendFile(journal, "not a line of a journal\n");
  expect(await refusal({ folder })).toBe(
    `The journal ${journal} cannot be read at line ${lines}: restore it from a copy, or delete it to begin a new chain.`,
  );
});

test.concurrent(
  "killed during its very first start, it begins again with the same secret",
  async ({ used, copyOfUsed }) => {
    const folder = await copyOfUsed();
    const file = join(folder, "dev.json");
    const { masterSecret } = JSON.parse(await readFile(file, "utf8")) as { masterSecret: string };
    await writeFile(file, JSON.stringify({ masterSecret }));
    // The last line of the journal is half written, too.
    await appendFile(join(folder, "chain.jsonl"), '{"kind":"transac');
    const dev = await startDev(folder);
    expect(dev.wallets).toEqual(used.ready.wallets);
    expect((await call(dev, "/webhooks")).status).toBe(200);
    await dev.end("SIGTERM");
  },
);

test.concurrent(
  "without its database it begins a new one, with keys that open it",
  async ({ used, copyOfUsed }) => {
    const folder = await copyOfUsed();
    await rm(join(folder, "payments.db"));
    const dev = await startDev(folder);
    expect(dev.apiKeys.pro).not.toBe(used.ready.apiKeys.pro);
    expect((await call(dev, "/webhooks", undefined, "pro")).status).toBe(200);
    await dev.end("SIGTERM");
  },
);

test.concurrent("litesvm's native package is missing", async () => {
  expect(await refusal({ env: withoutPackage("litesvm-") })).toMatch(
    /^The local chain needs the package (litesvm-\S+), which is not installed: run "npm install .* \1@1\.5\.0"\.$/,
  );
});

test.concurrent("litesvm's native package is of another machine", async () => {
  expect(await refusal({ env: withBrokenBinary("litesvm") })).toMatch(
    /^The local chain needs the package (litesvm-\S+), which does not load \(.+\): run "npm install .* \1@1\.5\.0"\.$/,
  );
});

test.skipIf(hasNodeSqlite()).concurrent("better-sqlite3 is missing, and Node brings no driver", async () => {
  expect(await refusal({ env: withoutPackage("better-sqlite3") })).toBe(
    "SQLite needs a driver: `npm install better-sqlite3`, or run Node 22.13 or newer, which brings one",
  );
});

test.concurrent("better-sqlite3 was built for another Node", async () => {
  const folder = await newDataFolder();
  expect(await refusal({ folder, env: withBrokenBinary("better_sqlite3") })).toMatch(
    /^better-sqlite3 was built for another Node or not at all: `npm rebuild better-sqlite3`/,
  );
  // Nothing half made is left that a later start would stumble over.
  const dev = await startDev(folder);
  expect(await dev.end("SIGTERM")).toMatchObject({ code: 0 });
});
