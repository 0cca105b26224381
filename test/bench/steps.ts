/** An instance of a million steps whose history keeps the newest thousand: its next steps beside those of one that has just begun. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assign, setup } from "xstate";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { timed, type Report } from "./figures.ts";

const KEEP = 1_000;
const STEPS = 1_000_000;
const WINDOW = 640;
const TURNS = 20;
const AT_ONCE = 64;

const counter = workflow(
  setup({ types: { context: {} as { readonly count: number } } }).createMachine({
    id: "counter",
    context: { count: 0 },
    on: { ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
  }),
)({ version: 1, history: { keep: KEEP } });

export async function benchSteps(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    const storage = await sqliteStorage(join(folder, "steps.db"));
    const engine = createEngine({ storage, workflows: [counter] });
    await engine.start(counter, { id: "old", input: undefined });
    const take = async (id: string, steps: number): Promise<void> => {
      for (let taken = 0; taken < steps; taken += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, () => engine.send(counter, id, { type: "ADD" })));
      }
    };
    await take("old", STEPS);
    await engine.start(counter, { id: "new", input: undefined });
    const seconds = { old: 0, new: 0 };
    // In turns, so that whatever else the machine does costs both.
    for (let turn = 0; turn < TURNS; turn++) {
      for (const id of ["old", "new"] as const) seconds[id] += (await timed(() => take(id, WINDOW))).seconds;
    }
    report({
      name: "steps of one instance",
      steps: (await engine.read(counter, "old"))?.context.count ?? 0,
      oldMicroseconds: (seconds.old / (TURNS * WINDOW)) * 1e6,
      newMicroseconds: (seconds.new / (TURNS * WINDOW)) * 1e6,
      ratio: seconds.old / seconds.new,
    });
    await engine.stop();
    await storage.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
