/** One of two programs on one database, which differ in a chart, a table and its indexes: places jobs, does them, and ends when none is left. */
import { setTimeout as sleep } from "node:timers/promises";
import { createEngine, workflow } from "paystate/engine";
import { silentLogger } from "../../../src/core/runtime.ts";
import { postgresStorage } from "../../../storage/postgres.ts";
import { sqliteStorage } from "../../../storage/sqlite.ts";
import { jobChart } from "../job.ts";
import { type Receipt, receiptsOf } from "../receipts.ts";

/** A path, or a URL and a schema; which of the programs; the names of its jobs, and how many. */
const [place = "", schema = "", version = "old", name = "", count = "0"] = process.argv.slice(2);
const isNew = version === "new";

const receipts = receiptsOf(version);
const storage = schema === "" ? await sqliteStorage(place) : await postgresStorage(place, { schema });
const jobs = workflow(jobChart)<{ receipts: Receipt }>({
  version: isNew ? 2 : 1,
  migrate: isNew ? { 1: ({ value, context }) => ({ value, context }) } : {},
  effects: {
    async work({ id }, { key }) {
      process.stdout.write(`${id}\n`);
      await sleep(5);
      const note = isNew ? { note: null } : {};
      const insert = { id: key, job: id, by: version, ...note };
      return { event: { type: "DONE", by: version }, writes: [{ table: "receipts", insert }] };
    },
  },
});
const engine = createEngine({
  storage,
  tables: { receipts },
  workflows: [jobs],
  leaseMs: 1_000,
  pollMs: 50,
  // No job ends its process, the test does: with five, a job that is held in each kill would be set aside.
  maxCrashes: 1_000,
  logger: silentLogger,
});
engine.run();
for (let index = 0; index < Number(count); index += 1) {
  const id = `${name}-${index}`;
  await engine.start(jobs, { id, input: { id } });
}
while ((await storage.nextDue(jobs.claims)) !== null) await sleep(20);
await engine.stop();
await storage.close();
