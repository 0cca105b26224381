/** The programs of the first page and of the quickstarts, run in the projects that `paystate init` writes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngine } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { orders } from "../../examples/init/templates/engine/order.ts";
import { endPrograms, freePort, startProgram, type RunningProgram } from "./programs.ts";
import { cancellingMain, firstProgram, secondVersion, writeProject } from "./quickstarts.ts";
import { makeScratchFolder, removeScratchFolder } from "./scratch-folder.ts";

let folder = "";
beforeEach(() => {
  // Express is found there.
  folder = makeScratchFolder("examples");
});
afterEach(async () => {
  await endPrograms();
  removeScratchFolder(folder);
});

const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);

const run = (file: string, env: Readonly<Record<string, string>> = {}): RunningProgram =>
  startProgram(process.execPath, ["--import", "tsx", file], { cwd: folder, env });

test("the eight lines of the first page are killed while they charge, and end the order at the next start", async () => {
  writeProject("engine", folder);
  write("first.ts", firstProgram());
  await run("first.ts").says(/charging 4242/);
  await endPrograms();
  const again = run("first.ts");
  await again.says(/charging 4242/);
  const storage = await sqliteStorage(join(folder, "orders.db"));
  const engine = createEngine({ storage, workflows: [orders] });
  const { value, context } = await engine.waitFor(orders, "order-7", "final");
  expect([value, context.receipt]).toEqual(["sent", expect.stringMatching(/^receipt order-7:/)]);
  expect(again.output().match(/charging/g)).toHaveLength(1);
  await engine.stop();
  await storage.close();
});

test("an order that waits is cancelled as the quickstart shows", async () => {
  writeProject("engine", folder);
  write("cancelling.ts", cancellingMain());
  const program = run("cancelling.ts");
  expect(await program.ended, program.output()).toBe(0);
  expect(program.output()).toMatch(/\nstepped\norder-1 has ended: cancelled, receipt order-1:/);
});

test("an order that waits goes on under the second version of the quickstart", async () => {
  writeProject("engine", folder);
  await run("main.ts").says(/charging 4242/);
  await endPrograms();
  write("order.ts", secondVersion());
  const program = run("main.ts");
  expect(await program.ended, program.output()).toBe(0);
  expect(program.output()).toMatch(/^order-1 goes on: charging\ncharging 4242\norder-1 has ended: sent/);
});

test("the shop of the quickstart hears of a payment that was asked for before it listened, and ships once", async () => {
  writeProject("payments", folder);
  const env = { PORT: String(await freePort()) };
  const pay = run("pay.ts", env);
  await pay.says(/waiting for npm start/);
  const shop = run("main.ts", env);
  await shop.says(/listening on/);
  expect(await pay.ended, pay.output()).toBe(0);
  expect(pay.output()).toMatch(/order-1 is completed: [1-9A-HJ-NP-Za-km-z]{80,}/);
  await shop.says(/order-1 is paid: ship it/);
  const answer = await fetch(`http://127.0.0.1:${env.PORT}/orders/order-1`);
  expect(await answer.json()).toEqual({ shipped: true });
  const forged = { method: "POST", body: '{"event":"transaction.completed"}' };
  expect((await fetch(`http://127.0.0.1:${env.PORT}/hook`, forged)).status).toBe(400);
  expect(await shop.stop(), shop.output()).toBe(0);
  expect(shop.output().match(/ship it/g)).toHaveLength(1);
});
