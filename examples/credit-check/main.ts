/**
 * A credit check that asks three bureaus: `npx tsx examples/credit-check/main.ts [credit.db]`, and `npm run demo -- engine`
 * kills it in the middle.
 */
import { setTimeout } from "node:timers/promises";
import { assign, fromPromise, setup } from "xstate";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";

const bureau = fromPromise(async ({ input }: { input: { name: string; ms: number } }) => {
  console.log(`asking ${input.name}`);
  await setTimeout(input.ms); // the call to the bureau
  console.log(`${input.name} has answered`);
  return 600 + input.name.length * 10;
});
const creditCheck = setup({
  types: { context: {} as { scores: readonly number[] } },
  actors: { bureau },
}).createMachine({
  id: "creditCheck",
  context: { scores: [] },
  initial: "asking",
  states: {
    asking: {
      invoke: Object.entries({ Alpha: 300, Beta: 2_500, Gammagamma: 3_000 }).map(([name, ms]) => ({
        src: "bureau",
        input: { name, ms },
        onDone: { actions: assign({ scores: ({ context, event }) => [...context.scores, event.output] }) },
      })),
      always: { guard: ({ context }) => context.scores.length === 3, target: "decided" },
    },
    decided: { type: "final" },
  },
  output: ({ context }) => (Math.max(...context.scores) >= 700 ? "approved" : "declined"),
});
const checks = workflow(creditCheck)({ version: 1 }); // makes it durable
const storage = await sqliteStorage(process.argv[2] ?? "credit.db");
const engine = createEngine({ storage, workflows: [checks], leaseMs: 1_000 });
engine.run();
await engine.start(checks, { id: "ada", input: undefined }); // refused where it was started
console.log((await engine.waitFor(checks, "ada", "final")).output);
await engine.stop();
await storage.close();
