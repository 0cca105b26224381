/** A process on PostgreSQL whose effects wait until it is told to finish them; it starts jobs and ends as its input says. */
import { createInterface } from "node:readline";
import { createEngine } from "paystate/engine";
import { silentLogger } from "../../../src/core/runtime.ts";
import { postgresStorage } from "../../../storage/postgres.ts";
import { job } from "../job.ts";

/** The last says whether effects wait for the line `finish`. */
const [url = "", schema = "", name = "", waits = "no"] = process.argv.slice(2);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
let finish = (): void => {};
const finished =
  waits === "no"
    ? Promise.resolve()
    : new Promise<void>((resolve) => {
        finish = resolve;
      });

const storage = await postgresStorage(url, { schema });
const jobs = job(async ({ id }) => {
  say(`begins ${id}`);
  await finished;
  say(`ends ${id}`);
  return { event: { type: "DONE", by: name } };
});
// Short, so that a pause of some seconds is longer than a lease.
const engine = createEngine({ storage, workflows: [jobs], leaseMs: 1_000, pollMs: 50, logger: silentLogger });
engine.run();
for await (const line of createInterface({ input: process.stdin })) {
  const [order, id = ""] = line.split(" ");
  if (order === "finish") finish();
  else {
    // Waited for beforehand: a job may have ended by the time that its start is told.
    const until = waits === "no" ? "final" : { state: "working" as const };
    const there = engine.waitFor(jobs, id, until, { mustExist: false });
    await engine.start(jobs, { id, input: { id } });
    await there;
    say(`started ${id}`);
  }
}
await engine.stop();
await storage.close();
