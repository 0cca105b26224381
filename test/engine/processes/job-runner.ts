/** One of several processes on a database: places jobs of its own, does whatever is due, and ends when nothing is left. */
import { createEngine } from "paystate/engine";
import { sqliteStorage } from "../../kit/storages.ts";
import { job } from "../job.ts";

const [path = "", name = "", count = "0"] = process.argv.slice(2);

const storage = await sqliteStorage(path);
const jobs = job(async ({ id }) => {
  process.stdout.write(`${id}\n`);
  return { event: { type: "DONE", by: name } };
});
const complain = (fields: object, message: string): void => {
  process.stderr.write(`${message} ${String((fields as { err?: unknown }).err)}\n`);
};
const logger = { debug() {}, info() {}, warn: complain, error: complain };
// Short, so that what a killed process held is soon taken over.
const engine = createEngine({ storage, workflows: [jobs], leaseMs: 1_000, pollMs: 50, logger });
engine.run();
const placed = Array.from({ length: Number(count) }, (_, index) => `${name}-${index}`);
await Promise.all(placed.map((id) => engine.start(jobs, { id, input: { id } })));
while ((await storage.nextDue([jobs.key])) !== null) {
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
}
await engine.stop();
await storage.close();
