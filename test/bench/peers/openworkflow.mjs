/** Four steps as openworkflow does them: each result is recorded before the next step begins. */
import { OpenWorkflow } from "openworkflow";
import { BackendPostgres } from "openworkflow/postgres";
import postgres from "postgres";

const { url, workflows, atOnce } = JSON.parse(process.argv[2]);
const backend = await BackendPostgres.connect(url);
const client = new OpenWorkflow({ backend });
let onRan = () => {};
let ordered = 0;
const fourSteps = client.defineWorkflow({ name: "four-steps" }, async ({ input, step }) => {
  let sum = input.number;
  for (let each = 1; each <= 4; each++) {
    sum += (await step.run({ name: `step-${each}` }, async () => ({ step: each }))).step;
  }
  onRan();
  return sum;
});
const worker = client.newWorker({ concurrency: atOnce });
await worker.start();

// Its handles look for the result once a second. Here the next one is ordered as soon as one has run, which is in its favour.
const sql = postgres(url, { max: 1 });
process.on("message", async () => {
  const all = ordered + workflows;
  const order = async () => {
    if (ordered < all) await fourSteps.run({ number: ordered++ });
  };
  onRan = () => void order();
  await Promise.all(Array.from({ length: atOnce }, order));
  for (;;) {
    const [{ count }] =
      await sql`select count(*)::int from openworkflow.workflow_runs where status = 'completed'`;
    if (count === all) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  process.send({ done: workflows });
});
process.once("disconnect", () => process.exit());
process.send({ ready: true });
