/** A process that is paused for longer than its leases and woken, for real, on PostgreSQL: what it does then comes too late. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { describe, expect } from "vitest";
import type { PostgresDatabase } from "../kit/postgres-database.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { program } from "../programs/programs.ts";
import { job } from "./job.ts";
import { eventually } from "../kit/eventually.ts";

/** A process and what it has said. */
class Runner {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;
  readonly said: string[] = [];

  constructor({ url, schema }: PostgresDatabase, name: string, waits: "waits" | "no") {
    const args = [...program("paused-runner"), url, schema, name, waits];
    this.#child = spawn(process.execPath, args);
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#lines.on("line", (line) => this.said.push(line));
  }

  order(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  saysAll(lines: readonly string[]): Promise<void> {
    return eventually(() => expect(this.said).toEqual(expect.arrayContaining([...lines])));
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.stdin.end();
    this.#child.kill("SIGCONT");
    await exit;
  }
}

const IDS = Array.from({ length: 8 }, (_, index) => `job-${index}`);
const workflow = job(async () => undefined).key;

const test = postgresTest
  .extend("storage", async ({ database }, { onCleanup }) => {
    const storage = await database.open();
    onCleanup(() => storage.close());
    return storage;
  })
  .extend("run", ({ database }, { onCleanup }) => {
    const runners: Runner[] = [];
    onCleanup(async () => {
      await Promise.all(runners.map((runner) => runner.end()));
    });
    return (name: string, waits: "waits" | "no") => {
      const runner = new Runner(database, name, waits);
      runners.push(runner);
      return runner;
    };
  })
  .extend("ended", ({ storage }) => async () => {
    const found = await storage.list({ order: "id", workflow, status: "done", after: "", limit: 100 });
    return found.map(({ id }) => id).toSorted();
  });

describe.skipIf(!HAS_POSTGRES)("a process that is paused on PostgreSQL", () => {
  test("E11: paused for longer than its leases and woken, its late results are refused, nothing happens twice, and it goes on", async ({
    storage,
    run,
    ended,
  }) => {
    const paused = run("paused", "waits");
    for (const id of IDS) paused.order(`start ${id}`);
    await paused.saysAll(IDS.map((id) => `begins ${id}`));
    paused.signal("SIGSTOP");

    const other = run("other", "no");
    await eventually(async () => expect(await ended()).toEqual(IDS));
    await other.end();

    // Read once it is woken.
    paused.order("finish");
    paused.order("start later");
    paused.signal("SIGCONT");
    await paused.saysAll([...IDS.map((id) => `ends ${id}`), "started later"]);
    await eventually(async () => expect(await ended()).toEqual([...IDS, "later"]));
    await paused.end();

    for (const id of IDS) {
      const history = await storage.history(id, { after: 0, limit: 10 });
      expect(history.map(({ version }) => version)).toEqual([1, 2]);
      expect(JSON.parse(history[1]?.event ?? "")).toEqual({ type: "DONE", by: "other" });
    }
    expect(await storage.tasks({ order: "dead", limit: 10 })).toEqual([]);
    expect(await storage.nextDue([workflow])).toBeNull();
  });
});
