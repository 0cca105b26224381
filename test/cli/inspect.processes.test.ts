/** `paystate inspect`: any database of ours in the pages of the inspector, only read; a bad file gets one sentence. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createInspector } from "paystate/inspector";
import { createEngine } from "paystate/engine";
import { silentLogger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { parcels } from "../inspector/parcel.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { leaveNothing, runCommand, startCommand } from "./command.ts";
import { eventually } from "../kit/eventually.ts";

afterAll(leaveNothing);

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "paystate-"));
  file = join(folder, "parcels.db");
  const storage = await sqliteStorage(file);
  const workflow = parcels();
  const engine = createEngine({
    storage,
    workflows: [workflow],
    clock: virtualClock(),
    logger: silentLogger,
  });
  await engine.start(workflow, { id: "p1", input: { note: "fragile" } });
  await engine.send(workflow, "p1", { type: "PAUSE" });
  await storage.close();
});

afterEach(() => rm(folder, { recursive: true }));

test("it serves the pages of a file, whose unknown charts are shown as stored rows, and changes nothing", async () => {
  const before = await readFile(file);
  const inspect = startCommand(["inspect", file, "--port", "0", "--json"]);
  await inspect.said(/\n/);
  const { inspectorUrl } = JSON.parse(inspect.stdout()) as { readonly inspectorUrl: string };
  const page = await (await fetch(`${inspectorUrl}/instance?id=p1`)).text();
  expect(page).toContain("The chart parcel@1 is not registered in this process.");
  expect(page).toContain("PAUSE");
  expect(page).toContain("fragile");
  expect(await inspect.end("SIGTERM")).toMatchObject({ code: 0, stderr: "" });
  expect(await readFile(file)).toEqual(before);
});

test("a module that exports no chart is refused with a sentence", async () => {
  const charts = join(folder, "charts.mjs");
  const { code, stderr } = await runCommand(["inspect", file, "--charts", join(folder, "none.mjs")]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `paystate: there is no ${join(folder, "none.mjs")}: name a module that exports your charts\n`,
  });
  await writeFile(charts, "export const nothing = 1;");
  expect((await runCommand(["inspect", file, "--charts", charts])).stderr).toBe(
    `paystate: ${charts} exports no workflow: expected what workflow() returns, or a list of these\n`,
  );
});

test("a bad file gets one sentence that names it", async () => {
  const text = join(folder, "notes.txt");
  await writeFile(text, "hello");
  expect(await runCommand(["inspect", text])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `paystate: ${text}: this is no SQLite database\n`,
  });
  expect((await runCommand(["inspect", join(folder, "gone.db")])).stderr).toBe(
    `paystate: ${join(folder, "gone.db")}: there is no such file\n`,
  );
});

test("`paystate machines` draws the charts of a module of the host's", async () => {
  const charts = join(folder, "light.mjs");
  const xstate = JSON.stringify(import.meta.resolve("xstate"));
  await writeFile(
    charts,
    `import { createMachine } from ${xstate};
    export const light = createMachine({ id: "light", initial: "off", states: { off: { on: { SWITCH: "on" } }, on: {} } });`,
  );
  expect((await runCommand(["machines", charts])).stdout).toContain("off --> on: SWITCH");
  expect((await runCommand(["machines", charts, "--format", "svg"])).stdout).toContain(
    'aria-label="Chart light"',
  );
  expect((await runCommand(["machines", charts, "--format", "json"])).stdout).toContain('"id": "light.off"');
});

test("a bundle that an inspector exported is shown with its chart; an edited one is refused", async () => {
  const storage = await sqliteStorage(file);
  const { fetch: ask } = createInspector({ storage, workflows: [parcels()] });
  const exported = await (await ask(new Request("http://127.0.0.1/_inspector/bundle?id=p1"))).text();
  await storage.close();
  const bundle = join(folder, "p1.paystate.json");
  await writeFile(bundle, exported);
  const inspect = startCommand(["inspect", bundle, "--port", "0", "--json"]);
  await inspect.said(/\n/);
  const { inspectorUrl } = JSON.parse(inspect.stdout()) as { readonly inspectorUrl: string };
  const page = async (): Promise<string> => (await fetch(`${inspectorUrl}/instance?id=p1`)).text();
  expect(await page()).toContain("PAUSE");
  await eventually(async () => expect(await page()).toContain('aria-label="Chart parcel"'));
  await inspect.end("SIGTERM");
  await writeFile(bundle, exported.replace("fragile", "robust"));
  expect((await runCommand(["inspect", bundle])).stderr).toBe(
    `paystate: ${bundle}: this bundle was edited or damaged after it was exported: ask for it again\n`,
  );
  await writeFile(bundle, exported.slice(0, -200));
  expect((await runCommand(["inspect", bundle])).stderr).toContain("this bundle is cut off or damaged");
});
