/** Several engines in several processes on one SQLite file: nothing is lost, nothing is done twice, no lock is seen. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import { program } from "../programs/programs.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

const JOBS_EACH = 150;

let path: string;
eachInFolder((made) => {
  path = join(made, "jobs.db");
});

interface Runner {
  /** Jobs whose effect ran here, in order. */
  readonly did: string[];
  readonly complaints: () => string;
  readonly ended: Promise<number | null>;
  readonly kill: () => void;
}

function startRunner(name: string, onJob: (runner: Runner) => void = () => undefined): Runner {
  const args = [...program("job-runner"), path, name, String(JOBS_EACH)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const stderr: string[] = [];
  child.stderr.on("data", (chunk) => stderr.push(String(chunk)));
  const did: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const runner: Runner = {
    did,
    complaints: () => stderr.join(""),
    ended: Promise.all([once(child, "exit"), once(lines, "close")]).then(() => child.exitCode),
    kill: () => child.kill("SIGKILL"),
  };
  lines.on("line", (line) => {
    did.push(line);
    onJob(runner);
  });
  return runner;
}

/** How many commits each job took, by job. */
async function commitsOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const storage = await sqliteStorage(path);
  const commits = new Map<string, number>();
  for (const name of names) {
    for (let index = 0; index < JOBS_EACH; index++) {
      const id = `${name}-${index}`;
      const instance = await storage.load(id);
      if (instance !== null) commits.set(id, instance.status === "done" ? instance.version : -1);
    }
  }
  await storage.close();
  return commits;
}

for (const processes of [2, 4]) {
  const names = Array.from({ length: processes }, (_, index) => `p${index}`);

  test(`E11: ${processes} processes do ${processes * JOBS_EACH} jobs, each once`, async () => {
    const runners = names.map((name) => startRunner(name));
    expect(await Promise.all(runners.map(({ ended }) => ended))).toEqual(names.map(() => 0));
    expect(runners.map(({ complaints }) => complaints()).join("")).toBe("");
    const did = runners.flatMap((runner) => runner.did);
    expect(did).toHaveLength(processes * JOBS_EACH);
    expect(new Set(did).size).toBe(did.length);
    expect(new Set((await commitsOf(names)).values())).toEqual(new Set([2]));
  });
}

test("E5, E11: what a killed process held is done by the others, and every job ends once", async () => {
  const victim = startRunner("victim", (runner) => {
    if (runner.did.length === 40) runner.kill();
  });
  const others = ["p0", "p1"].map((name) => startRunner(name));
  expect(await victim.ended).toBeNull();
  // On a busy machine the others may be through before the victim has begun: one more begins when it is dead.
  others.push(startRunner("p2"));
  expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  const commits = await commitsOf(["victim", "p0", "p1", "p2"]);
  // Of the victim's jobs those exist whose start was committed before the kill.
  expect(commits.size).toBeGreaterThanOrEqual(3 * JOBS_EACH);
  expect(new Set(commits.values())).toEqual(new Set([2]));
  const did = new Set([victim, ...others].flatMap((runner) => runner.did));
  expect([...commits.keys()].filter((id) => !did.has(id))).toEqual([]);
});
