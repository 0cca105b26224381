/** SQLite under several processes: what resolved survives a kill, and nobody's lock reaches a caller. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import { range } from "../contracts/storage/samples.ts";
import { program } from "../programs/programs.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let path: string;
eachInFolder((made) => {
  path = join(made, "test.db");
});

function startWriter(prefix: string, count: number) {
  const child = spawn(process.execPath, [...program("writer"), path, prefix, String(count)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stderr: string[] = [];
  child.stderr.on("data", (chunk) => stderr.push(String(chunk)));
  return { child, lines: createInterface({ input: child.stdout }), complaints: () => stderr.join("") };
}

/** Runs a writer to its end; what it printed. */
async function write(prefix: string, count: number): Promise<string[]> {
  const { child, lines, complaints } = startWriter(prefix, count);
  const exited = once(child, "exit");
  const printed: string[] = [];
  for await (const line of lines) printed.push(line);
  await exited;
  expect([child.exitCode, complaints()]).toEqual([0, ""]);
  return printed;
}

test("G5: every commit that resolved before kill -9 is there after it", async () => {
  const resolved: string[] = [];
  for (const round of [1, 2, 3]) {
    const { child, lines } = startWriter(`round${round}-`, 1_000_000);
    const exited = once(child, "exit");
    let printed = 0;
    for await (const line of lines) {
      resolved.push(line);
      printed += 1;
      if (printed === 40 * round) child.kill("SIGKILL");
    }
    await exited;
    expect(child.signalCode).toBe("SIGKILL");
  }
  expect(resolved.length).toBeGreaterThanOrEqual(240);
  const storage = await sqliteStorage(path);
  for (const id of resolved) expect(await storage.fact(id), id).not.toBeNull();
  await storage.close();
});

test("three processes create, migrate and write one database at once, and no lock error reaches a caller", async () => {
  const count = 150;
  const own = async (): Promise<void> => {
    const storage = await sqliteStorage(path);
    for (const index of range(count)) {
      const commit = { writes: [{ table: "facts" as const, insert: { id: `own${index}`, value: "own" } }] };
      expect(await storage.commit([commit])).toEqual([{ ok: true }]);
    }
    await storage.close();
  };
  const [left, right] = await Promise.all([write("left", count), write("right", count), own()]);
  expect([left.length, right.length]).toEqual([count, count]);
  const storage = await sqliteStorage(path);
  for (const id of ["left", "right", "own"].flatMap((prefix) =>
    range(count).map((index) => `${prefix}${index}`),
  )) {
    expect(await storage.fact(id), id).not.toBeNull();
  }
  await storage.close();
});
