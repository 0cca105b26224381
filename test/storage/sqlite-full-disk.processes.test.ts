/** SQLite on a disk that takes no more in the middle of a group: every item is there or not as it was answered. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import type { PaymentCommit } from "../contracts/storage/samples.ts";
import { program } from "../programs/programs.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let path: string;
eachInFolder((made) => {
  path = join(made, "test.db");
});

/** One group: what each of its facts was answered, and whether its process then saw it. */
interface Group {
  readonly ids: readonly string[];
  readonly answers: readonly string[];
  readonly there: readonly boolean[];
}

const fact = (id: string): PaymentCommit => ({ writes: [{ table: "facts", insert: { id, value: "x" } }] });

test("D1, D12: where the disk takes no more in the middle of a COMMIT, each item is there or not as it was answered, also after kill -9", async () => {
  await (await sqliteStorage(path)).close();
  // Node ignores the signal of the limit, so the file system refuses the write, as a full disk does.
  const limited = ["-c", 'ulimit -f 6000; exec "$@"', "sh", process.execPath, ...program("full-disk"), path];
  const child = spawn("sh", limited, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const groups: Group[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const group = JSON.parse(line) as Group;
    groups.push(group);
    if (group.answers.some((answer) => answer !== "ok")) child.kill("SIGKILL");
  }
  await exited;
  expect(groups.length).toBeGreaterThan(3);
  const storage = await sqliteStorage(path);
  for (const { ids, answers, there } of groups) {
    for (const [index, id] of ids.entries()) {
      // What is unknown may be there or not.
      const answer = answers[index];
      if (answer === "unknown") continue;
      expect(["ok", "failed"]).toContain(answer);
      expect(there[index], id).toBe(answer === "ok");
      expect((await storage.fact(id)) !== null, id).toBe(answer === "ok");
    }
  }
  const last = groups.at(-1);
  const failed = last?.ids.filter((_, index) => last.answers[index] === "failed") ?? [];
  expect((await storage.commit(failed.map(fact))).map(({ ok }) => ok)).toEqual(failed.map(() => true));
  await storage.close();
});

test("D37: a start on a disk that takes no more is refused", async () => {
  await (await sqliteStorage(path)).close();
  const limited = ["-c", 'ulimit -f 1; exec "$@"', "sh", process.execPath, ...program("full-disk"), path];
  const child = spawn("sh", limited, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.on("data", (text: Buffer) => (said += text.toString()));
  child.stderr.on("data", (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, "exit")) as [number];
  expect(code).toBe(1);
  expect(said).toMatch(/code: '(disk_full|unwritable)'/);
  expect(said, "no group was tried").not.toContain("answers");
});
