/** A process that has many effects in hand, and is killed with them or by one of them; it ends when nothing is left. */
import { createEngine } from "paystate/engine";
import { silentLogger } from "../../../src/core/runtime.ts";
import { sqliteStorage } from "../../kit/storages.ts";
import { job } from "../job.ts";

/** The second argument says what effects do: hang, end, or all but j07 end, which kills the process. */
const [path = "", does = "end", count = "0"] = process.argv.slice(2);

const storage = await sqliteStorage(path);
const jobs = job(async ({ id }, { crashes }) => {
  process.stdout.write(`${id}\n`);
  if (does === "hang") await new Promise(() => undefined);
  // When all are in hand, until they are suspects.
  if (does === "deadly" && crashes < 2) await new Promise((resolve) => setTimeout(resolve, 100));
  if (does === "deadly" && id === "j07") process.kill(process.pid, "SIGKILL");
  return { event: { type: "DONE", by: does } };
});
// Short, so that what a killed process held is soon taken over.
const options = { leaseMs: 1_000, pollMs: 50, maxCrashes: does === "deadly" ? 3 : 5 };
const engine = createEngine({ storage, workflows: [jobs], logger: silentLogger, ...options });
engine.run();
const placed = Array.from({ length: Number(count) }, (_, index) => `j${String(index).padStart(2, "0")}`);
await Promise.all(placed.map((id) => engine.start(jobs, { id, input: { id } })));
/** Every job but those that were set aside. */
const isLeft = async (): Promise<boolean> => {
  const active = await storage.list({
    order: "id",
    workflow: jobs.key,
    status: "active",
    after: "",
    limit: 100,
  });
  return active.length > (await storage.tasks({ order: "dead", limit: 100 })).length;
};
while (await isLeft()) {
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
}
await engine.stop();
await storage.close();
