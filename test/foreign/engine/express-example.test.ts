/** The example in Express, copied to where Express is installed: it fits the types, and does what it says. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../readme/page.ts";
import { endPrograms, startProgram, type RunningProgram } from "../../readme/programs.ts";
import { makeScratchFolder, removeScratchFolder } from "../../readme/scratch-folder.ts";

let folder: string;
beforeAll(() => {
  folder = makeScratchFolder("test/foreign");
  cpSync(join(ROOT, "examples/express"), folder, { recursive: true });
  const config = { extends: join(ROOT, "tsconfig.json"), include: [], files: ["main.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
});
afterAll(async () => {
  await endPrograms();
  removeScratchFolder(folder);
});

function app(): RunningProgram {
  const args = ["--import", "tsx", "main.ts", "orders.db"];
  return startProgram(process.execPath, args, { cwd: folder, env: { PORT: "0" } });
}

test("the example fits the types", async () => {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const compiler = startProgram(process.execPath, [tsc, "-p", folder], { cwd: folder });
  await compiler.ended;
  expect(compiler.output()).toBe("");
}, 120_000);

test("an Express app takes an order once, survives a stop in the middle, and gives the money back", async () => {
  const url = async (program: RunningProgram): Promise<string> =>
    (await program.says(/listening on (\S+),/))[1] ?? "";
  const post = (at: string, body: object): Promise<Response> =>
    fetch(at, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const first = app();
  const before = await url(first);
  expect((await post(`${before}/orders/o-1`, { card: "4242", amount: 1_250 })).status).toBe(201);
  expect((await post(`${before}/orders/o-1`, { card: "4242", amount: 1_250 })).status).toBe(200);
  expect((await post(`${before}/orders/o-2`, { card: "4242", amount: 1.5 })).status).toBe(400);
  expect((await post(`${before}/orders/o-3`, { card: "4242", amount: 100_001 })).status).toBe(201);
  expect((await post(`${before}/orders/o-4`, { card: "0000", amount: 1 })).status).toBe(201);
  expect((await fetch(`${before}/orders/none`)).status).toBe(404);
  expect(await first.stop(), first.output()).toBe(0);

  const second = app();
  const after = await url(second);
  const order = async (id: string): Promise<unknown> => (await fetch(`${after}/orders/${id}`)).json();
  const patience = { timeout: 20_000, interval: 100 };
  const receipt = (amount: number, id: string): unknown =>
    expect.stringMatching(new RegExp(`^charged ${amount} under ${id}:[0-9a-v]{19}:0$`));
  await expect
    .poll(() => order("o-1"), patience)
    .toMatchObject({ state: "sent", receipt: receipt(1_250, "o-1") });
  await expect.poll(() => order("o-3"), patience).toMatchObject({ state: "refunded" });
  await expect.poll(() => order("o-4"), patience).toMatchObject({ state: "declined", receipt: null });
  expect((await post(`${after}/orders/o-1/cancel`, {})).status).toBe(409);
  expect((await post(`${after}/orders/none/cancel`, {})).status).toBe(404);
  expect(await second.stop(), second.output()).toBe(0);
}, 90_000);
