/** How late timers are beside effects that take far longer, and are more than there are places for. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createMachine, fromPromise, setup } from "xstate";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { median, type Report } from "./figures.ts";

const SLOW_EFFECTS = 128;
const EFFECT_MS = 8_000;
const TIMERS = 500;
const TIMER_MS = 100;
/** One is begun each, so that they are due one after the other. */
const PAUSE_MS = 10;

const slow = workflow(
  setup({
    actors: { work: fromPromise(({ signal }) => setTimeout(EFFECT_MS, undefined, { signal })) },
  }).createMachine({
    id: "slow",
    initial: "busy",
    states: { busy: { invoke: { src: "work", onDone: "over" } }, over: { type: "final" } },
  }),
)({ version: 1 });

const timed = workflow(
  createMachine({
    id: "timed",
    initial: "waiting",
    states: { waiting: { after: { [TIMER_MS]: "over" } }, over: { type: "final" } },
  }),
)({ version: 1 });

const p99 = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? 0;

/** From when a timer was due to when the step that it makes is durable. */
export async function benchTimers(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    const storage = await sqliteStorage(join(folder, "timers.db"));
    const engine = createEngine({ storage, workflows: [slow, timed] });
    const due = new Map<string, number>();
    const late: number[] = [];
    const bare: number[] = [];
    engine.subscribe(({ commit: { starts = [], step } }) => {
      for (const { id, createdAt } of starts) due.set(id, createdAt + TIMER_MS);
      const at = step?.workflow === timed.key ? due.get(step.id) : undefined;
      if (at !== undefined) late.push(Date.now() - at);
    });
    engine.run();
    for (let index = 0; index < SLOW_EFFECTS; index++) {
      await engine.start(slow, { id: `slow-${index}`, input: undefined });
    }
    for (let index = 0; index < TIMERS; index++) {
      await engine.start(timed, { id: `timed-${index}`, input: undefined });
      const bareDue = Date.now() + TIMER_MS;
      void setTimeout(TIMER_MS).then(() => bare.push(Date.now() - bareDue));
      await setTimeout(PAUSE_MS);
    }
    while (late.length < TIMERS) await setTimeout(PAUSE_MS);
    await engine.stop({ timeoutMs: 0 });
    await storage.close();
    report({
      name: `timers beside ${SLOW_EFFECTS} slow promises`,
      timers: late.length,
      "median late ms": median(late),
      "p99 late ms": p99(late),
      "p99 of bare timers of Node": p99(bare),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
