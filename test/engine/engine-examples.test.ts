/** The examples of charts, run as a reader would run them, and killed where they say that they survive it. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ROOT } from "../readme/page.ts";
import { endPrograms, startProgram, type RunningProgram } from "../readme/programs.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let folder: string;
eachInFolder((made) => {
  folder = made;
});
afterAll(endPrograms);

function example(name: string, env: Readonly<Record<string, string>> = {}): RunningProgram {
  const args = ["--import", "tsx", `examples/${name}/main.ts`, join(folder, "example.db")];
  return startProgram(process.execPath, args, { cwd: ROOT, env });
}

test("a child for each item is packed, and started again the order is done already", async () => {
  const program = example("child-per-item");
  expect(await program.ended, program.output()).toBe(0);
  const lines = program.output().trim().split("\n");
  expect(lines.slice(0, 3)).toEqual(["lamp", "bookshelf", "rug"].map((item) => `${item} is order-1/${item}`));
  expect(lines.slice(3, 6).toSorted()).toEqual(
    ["bookshelf", "lamp", "rug"].map((item) => `${item} is in the box`),
  );
  expect(lines.at(-1)).toBe("sent: bookshelf, lamp, rug");
  const again = example("child-per-item");
  expect(await again.ended, again.output()).toBe(0);
  expect(again.output()).not.toContain("is in the box");
}, 60_000);

test("an Express app takes an order once, survives a stop in the middle, and gives the money back", async () => {
  const url = async (program: RunningProgram): Promise<string> =>
    (await program.says(/listening on (\S+),/))[1] ?? "";
  const post = (at: string, body: object): Promise<Response> =>
    fetch(at, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const first = example("express", { PORT: "0" });
  const before = await url(first);
  expect((await post(`${before}/orders/o-1`, { card: "4242", amount: 1_250 })).status).toBe(201);
  expect((await post(`${before}/orders/o-1`, { card: "4242", amount: 1_250 })).status).toBe(200);
  expect((await post(`${before}/orders/o-2`, { card: "4242", amount: 1.5 })).status).toBe(400);
  expect((await post(`${before}/orders/o-3`, { card: "4242", amount: 100_001 })).status).toBe(201);
  expect((await post(`${before}/orders/o-4`, { card: "0000", amount: 1 })).status).toBe(201);
  expect((await fetch(`${before}/orders/none`)).status).toBe(404);
  expect(await first.stop(), first.output()).toBe(0);

  const second = example("express", { PORT: "0" });
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
