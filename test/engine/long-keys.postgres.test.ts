/** The longest keys and ids on PostgreSQL, whose indexes take 2,700 bytes a row: of bytes that cannot be compressed. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { setup } from "xstate";
import { createEngine, workflow, type TellParams } from "paystate/engine";
import { silentLogger } from "../../src/core/runtime.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { jobChart } from "./job.ts";

const random = (bytes: number): string => randomBytes(bytes).toString("hex").slice(0, bytes);

const tellers = workflow(
  setup({
    types: { context: {} as { to: string }, input: {} as { to: string } },
    actions: { tell: (_, _params: TellParams) => {} },
  }).createMachine({
    id: "teller",
    context: ({ input }) => input,
    initial: "telling",
    states: {
      telling: {
        entry: {
          type: "tell",
          params: ({ context: { to } }) => ({ machine: "job", id: to, event: { type: "DONE", by: "me" } }),
        },
        type: "final",
      },
    },
  }),
)({ version: 1, effects: {} });

test.runIf(HAS_POSTGRES)(
  "two keys of 1,300 bytes limit a task, and the longest id gets its messages",
  async () => {
    const database = await postgresDatabase();
    const storage = await database.open();
    const limit = [
      { key: random(1_300), atMost: 1 },
      { key: random(1_300), atMost: 1 },
    ];
    const run = async () => undefined;
    const jobs = workflow(jobChart)({ version: 1, effects: { work: { run, limit } } });
    const engine = createEngine({ storage, workflows: [jobs, tellers], logger: silentLogger });
    engine.run();
    const id = random(2_048);
    await engine.start(jobs, { id, input: { id } });
    await engine.setLimit(limit[0]?.key ?? "", { atMost: 2 }); // modules: rates
    await engine.start(tellers, { id: "teller", input: { to: id } });
    expect((await engine.waitFor(jobs, id, "final")).value).toBe("done");
    await engine.settled();
    expect((await engine.pending(id)).tasks).toEqual([]);
    await engine.stop();
    await storage.close();
    await database.destroy();
  },
);
