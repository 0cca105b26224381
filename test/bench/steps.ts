/** An instance of a million steps whose history keeps the newest thousand: the last steps beside the first. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assign, setup } from "xstate";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { timed, type Report } from "./figures.ts";

const KEEP = 1_000;
const STEPS = 1_000_000;
const WINDOW = 20_000;
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
    await engine.start(counter, { id: "c", input: undefined });
    const take = async (steps: number): Promise<void> => {
      for (let taken = 0; taken < steps; taken += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, () => engine.send(counter, "c", { type: "ADD" })));
      }
    };
    await take(WINDOW); // warm
    const first = await timed(() => take(WINDOW));
    await take(STEPS - 3 * WINDOW);
    const last = await timed(() => take(WINDOW));
    const history = await engine.history("c", { limit: 1_000 });
    report({
      name: "steps of one instance",
      steps: (await engine.read(counter, "c"))?.context.count ?? 0,
      firstMicroseconds: (first.seconds / WINDOW) * 1e6,
      lastMicroseconds: (last.seconds / WINDOW) * 1e6,
      ratio: last.seconds / first.seconds,
      oldestKept: history[0]?.version ?? 0,
    });
    await engine.stop();
    await storage.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
