/** The programs of the pages: they fit the types, as the examples of docstrings do, and they do what the pages say. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import pg from "pg";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PaymentService } from "paystate";
import { systemClock, type Table } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import { sqliteStorage } from "paystate/storage/sqlite";
import type { PaymentClient } from "paystate/client";
import { runCommand } from "../../src/cli/program.ts";
import { signatureHeaders } from "../../src/payments/webhooks/sending/signature.ts";
import { QUICK } from "../kit/thorough.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { clientWorld } from "../client/client-world.ts";
import { exportedValues } from "./examples.ts";
import { PAGE_OF } from "./page-programs.ts";
import { blockOf, PAGES, ROOT, textOf } from "./page.ts";
import { endPrograms, freePort, startProgram, type RunningProgram } from "./programs.ts";
import { sendSol } from "./send-sol.ts";
import { removeScratchFolder, makeScratchFolder } from "./scratch-folder.ts";

let folder = "";
beforeAll(() => {
  folder = makeScratchFolder();
  const programs = Object.entries(PAGE_OF);
  for (const [name, page] of programs) writeFileSync(join(folder, `${name}.ts`), blockOf(page, `ts ${name}`));
  const examples = exportedValues().flatMap(({ name, examples: given }) =>
    given.map(({ code }, index) => ({ file: `example-${name}-${index}.ts`, code })),
  );
  for (const { file, code } of examples) writeFileSync(join(folder, file), code);
  const files = [...programs.map(([name]) => `${name}.ts`), ...examples.map(({ file }) => file)];
  const config = { extends: join(ROOT, "tsconfig.json"), include: [], files };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
});
afterAll(async () => {
  await endPrograms();
  removeScratchFolder(folder);
});

/** `name` is one of `PAGE_OF`: which of them there are depends on the modules of the engine. */
function run(name: string, env: Readonly<Record<string, string>> = {}): RunningProgram {
  return startProgram(process.execPath, ["--import", "tsx", `${name}.ts`], { cwd: folder, env });
}

// The compiler takes longer than all the programs together: CI has it.
test.runIf(!QUICK)(
  "every program and every example fits the types",
  () => {
    const { config } = ts.readConfigFile(join(folder, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
      readonly config: object;
    };
    const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
    const program = ts.createProgram(fileNames, options);
    const files = program.getSourceFiles().filter(({ fileName }) => fileNames.includes(fileName));
    expect(files).toHaveLength(fileNames.length);
    // Of the sources only what these use: the type check has them all.
    const faults = files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]);
    expect(
      [...errors, ...program.getOptionsDiagnostics(), ...faults].map(({ file, messageText }) => [
        file?.fileName,
        messageText,
      ]),
    ).toEqual([]);
  },
  120_000,
);

test("U2: a block of code without a name is a part of a program, and there are few of them", () => {
  const unnamed = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/^```(ts|js)$/gm)].map(([, language]) => `${page}: ${language}`),
  );
  expect(unnamed).toEqual([
    // A logger's options.
    "examples/deploy/README.md: js",
    // The loop of a test runner.
    "storage/README.md: ts",
  ]);
});

test("the invoice is paid once, however often the program is run", async () => {
  const first = run("engine");
  expect(await first.ended, first.output()).toBe(0);
  expect(first.output()).toBe("receipt to ada@example.com\n");
  const second = run("engine");
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).toBe("");
});

test("the machine's own throughput is measured, on a file that may be measured again", async () => {
  const printed = /^[1-9]\d* workflows a second\n$/;
  const first = run("throughput");
  expect(await first.ended, first.output()).toBe(0);
  expect(first.output()).toMatch(printed);
  const second = run("throughput");
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).toMatch(printed);
});

test("what is finished is kept for ninety days", async () => {
  const program = run("keep");
  expect(await program.ended, program.output()).toBe(0);
  expect(program.output()).toBe("7776000000\n");
});

test("an instance of an old version goes on under the new one", async () => {
  const program = run("change");
  expect(await program.ended, program.output()).toBe(0);
  expect(program.output()).toBe(
    "$started running\n$migrated active\nCANCEL over\n{ given: 'Ada', family: 'Lovelace' }\n",
  );
});

test("an order that is refused ships nothing", async () => {
  const program = run("within");
  expect(await program.ended, program.output()).toBe(0);
  const said = program.output().trim().split("\n");
  expect(said.toSorted()).toEqual(["UNIQUE constraint failed: orders.id", "shipped to Ada"]);
});

test("of two who book one seat the first has it, however often the program is run", async () => {
  const first = run("queries");
  expect(await first.ended, first.output()).toBe(0);
  expect(first.output()).toBe("ada reserved\nbob refused\n");
  const second = run("queries");
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).toBe("ada reserved\nbob refused\n");
});

test.runIf(HAS_POSTGRES)(
  "a transfer moves the money in the handler's transaction, or is refused",
  async () => {
    const { move } = (await import(join(folder, "transact.ts"))) as {
      move: (url: string, id: string, transfer: object) => Promise<unknown>;
    };
    const server = await postgresUrl();
    const name = `bank_${process.pid}`;
    const admin = new pg.Client(server);
    await admin.connect();
    await admin.query(`create database ${name}`);
    const url = server.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
    const bank = new pg.Client(url);
    await bank.connect();
    try {
      await bank.query(
        "create table accounts (id text, cents integer); insert into accounts values ('a', 5), ('b', 0)",
      );
      expect(await move(url, "t-1", { from: "a", to: "b", cents: 3 })).toBe("moved");
      expect(await move(url, "t-2", { from: "a", to: "b", cents: 3 })).toBe("refused");
      const { rows } = await bank.query<object>("select * from accounts order by id");
      expect(rows).toEqual([
        { id: "a", cents: 2 },
        { id: "b", cents: 3 },
      ]);
    } finally {
      await bank.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    }
  },
);

test("the nights of a change are reported once, however often the program is run", async () => {
  const first = run("schedule");
  expect(await first.ended, first.output()).toBe(0);
  expect(first.output().trim().split("\n").toSorted()).toEqual([
    "Mitte 2025-03-29T01:30:00.000Z",
    "Mitte 2025-03-30T01:00:00.000Z",
    "Mitte 2025-03-31T00:30:00.000Z",
  ]);
  const second = run("schedule");
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).toBe("");
});

test("the order that has moved is found where it is now, and one job moves both", async () => {
  const program = run("search");
  expect(await program.ended, program.output()).toBe(0);
  expect(program.output()).toBe("[ 'order-2' ] null\n{ touched: 2, total: 2, done: true }\n");
});

test("a table of one's own keeps its row, also once it has another column", async () => {
  const first = run("table");
  expect(await first.ended, first.output()).toBe(0);
  const second = run("table");
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).toBe("1 18446744073709551615n\n");

  const { orders } = (await import(join(folder, "later.ts"))) as {
    orders: Table<{ id: string; customer: string; note: string }>;
  };
  const storage = await sqliteStorage(join(folder, "orders.db"));
  await storage.install([orders]);
  expect(await storage.find({ table: orders, key: "o-1" })).toMatchObject([{ customer: "ada", note: "" }]);
  await storage.close();
});

test("the embedded service takes a payment to its end with a key of the command, and ends on SIGTERM", async () => {
  const chain = await createLocalChain({ clock: systemClock, slotMs: 20 });
  try {
    const rpc = await chain.listen({ port: 0, host: "127.0.0.1" });
    const alice = chain.createWallet("alice", { lamports: 5_000_000_000n });
    const bob = chain.createWallet("bob", { lamports: 1_000_000_000n });
    const MASTER_SECRET = randomBytes(32).toString("hex");
    const env = { RPC_URL: rpc.url, MASTER_SECRET, PORT: String(await freePort()) };
    const service = run("embed", env);
    const [, url = ""] = await service.says(/listening on (\S+)/);
    const { accountId } = await onDatabase<{ accountId: string }>("account", "create", "a", "--tier", "free");
    const { key } = await onDatabase<{ key: string }>("key", "create", accountId);
    const transactionId = await sendSol({ url, key }, { from: alice.secretKey, to: bob.address });
    await service.says(new RegExp(`${transactionId} transaction\\.completed`));
    expect(await service.stop(), service.output()).toBe(0);
  } finally {
    await chain.close();
  }
});

/** What a command says of the file of the embedded service. */
async function onDatabase<Said>(...args: readonly string[]): Promise<Said> {
  let said = "";
  await runCommand([...args, "--database", join(folder, "payments.db"), "--json"], (text) => {
    said += text;
  });
  return JSON.parse(said) as Said;
}

test("the client's program pays an order once, however often it is run", async () => {
  const { pay } = (await import(join(folder, "client.ts"))) as {
    pay: (client: PaymentClient, order: object, sign: (unsigned: string) => string) => Promise<string>;
  };
  const world = await clientWorld();
  try {
    const sender = world.wallet("sender", { lamports: 5_000_000_000n });
    const recipient = world.wallet("recipient", { lamports: 1_000_000_000n });
    const order = { number: "order-7", from: sender.address, to: recipient.address, amount: "1.5" };
    const sign = (unsigned: string): string => world.sign(unsigned, sender);
    const signature = await world.finalizing(pay(world.client, order, sign));
    expect(signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,}$/);
    expect(await world.finalizing(pay(world.client, order, sign))).toBe(signature);
    expect((await world.client.listTransactions().page()).data).toHaveLength(1);
  } finally {
    await world.close();
  }
});

test("metrics are served to Prometheus on a port of their own", async () => {
  const { serveMetrics } = (await import(join(folder, "prometheus.ts"))) as {
    serveMetrics: (service: PaymentService, port: number) => Server;
  };
  const world = await clientWorld();
  const port = await freePort();
  const server = serveMetrics(world.service, port);
  try {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await response.text()).toContain('paystate_health{status="ok"} 1');
  } finally {
    server.close();
    await world.close();
  }
});

// modules: webhooks
test("a receiver's checks tell genuine deliveries from forged ones", async () => {
  const { isGenuine, verified } = (await import(join(folder, "verify.ts"))) as {
    isGenuine: (body: string, headers: Record<string, string>, secret: string) => boolean;
    verified: (body: string, headers: Record<string, string>, secret: string) => unknown;
  };
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const body = JSON.stringify({ event: "transaction.completed" });
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const sent = signatureHeaders({ body, secret, noticeId: "evt_1", timestampSeconds });
  // As they arrive: node:http writes header names in lower case.
  const headers = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]),
  );
  expect(isGenuine(body, headers, secret)).toBe(true);
  expect(verified(body, headers, secret)).toEqual(JSON.parse(body));
  expect(isGenuine(`${body} `, headers, secret)).toBe(false);
  expect(() => verified(`${body} `, headers, secret)).toThrow("No matching signature found");
});
