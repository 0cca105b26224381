/** Processes killed for real with many effects in hand, on one SQLite file: only what kills its process is set aside. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { createEngine } from "paystate/engine";
import { sqliteStorage } from "../kit/storages.ts";
import { program } from "../programs/programs.ts";
import { job } from "./job.ts";
import { taskIdAt } from "../kit/task-ids.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let path: string;
eachInFolder((made) => {
  path = join(made, "jobs.db");
});

/** The ids of the effects that began in one life, which is killed after so many of them if it has not ended before. */
async function life(does: string, count: number, killAfter = Infinity): Promise<string[]> {
  const args = [...program("suspect-runner"), path, does, String(count)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const begun: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    begun.push(line);
    if (begun.length === killAfter) child.kill("SIGKILL");
  });
  await Promise.all([once(child, "exit"), once(lines, "close")]);
  if (child.signalCode !== "SIGKILL" && child.exitCode !== 0) {
    throw new Error(`a life that nothing killed ended with ${child.exitCode}`);
  }
  return begun;
}

async function standing(): Promise<{ readonly done: number; readonly dead: readonly string[] }> {
  const storage = await sqliteStorage(path);
  const { key: workflow } = job(async () => undefined);
  const done = await storage.list({ order: "id", workflow, status: "done", after: "", limit: 100 });
  const dead = await storage.tasks({ order: "dead", limit: 100 });
  await storage.close();
  return { done: done.length, dead: dead.map(({ id }) => id) };
}

test("D2: forty healthy effects in hand, six SIGKILLs: all forty are done", async () => {
  expect(await life("hang", 40, 40)).toHaveLength(40);
  expect(await life("hang", 0, 40)).toHaveLength(40);
  const tried: string[] = [];
  for (let kill = 3; kill <= 6; kill++) tried.push(...(await life("hang", 0, 1)));
  expect(new Set(tried).size).toBe(4);
  await life("end", 0);
  expect(await standing()).toEqual({ done: 40, dead: [] });
});

test("D2: an effect that kills its process is found, set aside alone, listed, and retried by command", async () => {
  const lives: string[][] = [await life("deadly", 40)];
  while (lives.length < 9 && lives.at(-1)?.includes("j07") === true) lives.push(await life("deadly", 0));
  expect(lives.map((begun) => begun.includes("j07"))).toEqual([true, true, true, true, true, false]);
  expect(await standing()).toEqual({ done: 39, dead: [expect.stringMatching(/^j07:/)] });
  const storage = await sqliteStorage(path);
  const mended = job(async ({ id }) => id);
  const engine = createEngine({ storage, workflows: [mended] });
  engine.run();
  expect(await engine.retry(await taskIdAt(engine, "j07"))).toBe(true);
  await engine.settled();
  await engine.stop();
  await storage.close();
  expect(await standing()).toEqual({ done: 40, dead: [] });
});
