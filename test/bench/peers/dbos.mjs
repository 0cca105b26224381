/** Four steps as DBOS does them: each result is recorded before the next step begins. */
import { DBOS } from "@dbos-inc/dbos-sdk";

const { url, workflows, atOnce } = JSON.parse(process.argv[2]);
DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logLevel: "error" });
const work = (step) => DBOS.runStep(async () => ({ step }), { name: `step-${step}` });
const fourSteps = DBOS.registerWorkflow(
  async (number) => {
    let sum = number;
    for (let step = 1; step <= 4; step++) sum += (await work(step)).step;
    return sum;
  },
  { name: "four-steps" },
);
await DBOS.launch();

// Started where it runs, without a queue, which would be polled; the handle of its own process needs no look either.
const one = async (number) => (await DBOS.startWorkflow(fourSteps)(number)).getResult();
process.on("message", async () => {
  let next = 0;
  const lane = async () => {
    while (next < workflows) await one(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  process.send({ done: workflows });
});
process.once("disconnect", () => process.exit());
process.send({ ready: true });
