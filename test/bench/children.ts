/** 10,000 children in one step: until the last one is joined, and for how long the event loop stood still at most. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assign, createMachine, enqueueActions, setup } from "xstate";
import { flow } from "../../examples/patterns/fan-out.ts";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { timed, type Report } from "./figures.ts";

const CHILDREN = 10_000;
const TICK_MS = 5;

const child = createMachine({
  id: "child",
  initial: "waiting",
  states: { waiting: { after: { 0: "over" } }, over: { type: "final" } },
});

const parent = workflow(
  setup({ types: { context: {} as { ended: number } }, actors: { child } }).createMachine({
    id: "parent",
    context: { ended: 0 },
    initial: "idle",
    states: {
      idle: {
        on: {
          SPREAD: {
            target: "spread",
            actions: enqueueActions(({ enqueue }) => {
              for (let index = 0; index < CHILDREN; index++) enqueue.spawnChild("child", { id: `c${index}` });
            }),
          },
        },
      },
      spread: {
        on: { "xstate.done.actor.*": { actions: assign({ ended: ({ context }) => context.ended + 1 }) } },
        always: { guard: ({ context }) => context.ended === CHILDREN, target: "joined" },
      },
      joined: { type: "final" },
    },
  }),
)({ version: 1 });

/** The longest time between two ticks, and the CPU that the process used in it: beside other work it is less. */
function watchLoop(): () => { readonly longestMs: number; readonly cpuMs: number } {
  let [last, cpu] = [performance.now(), process.cpuUsage()];
  let longest = { longestMs: 0, cpuMs: 0 };
  const interval = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    if (now - last > longest.longestMs) longest = { longestMs: now - last, cpuMs: (user + system) / 1_000 };
    [last, cpu] = [now, process.cpuUsage()];
  }, TICK_MS);
  return () => {
    clearInterval(interval);
    return longest;
  };
}

export async function benchChildren(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    const storage = await sqliteStorage(join(folder, "children.db"));
    const engine = createEngine({ storage, workflows: [parent, flow] });
    let largest = 0;
    engine.subscribe(({ commit }) => (largest = Math.max(largest, commit.step?.snapshot.length ?? 0)));
    engine.run();
    for (const id of ["cold", "warm"]) {
      await engine.start(parent, { id, input: undefined });
      const loop = watchLoop();
      const { seconds } = await timed(async () => {
        await engine.send(parent, id, { type: "SPREAD" });
        await engine.waitFor(parent, id, "final");
      });
      // Each child is started by one message and ends with another.
      const messages = (2 * CHILDREN) / seconds;
      report({
        name: `children, ${id}`,
        children: CHILDREN,
        seconds,
        "messages /s": Math.round(messages),
        ...loop(),
      });
    }
    largest = 0;
    const loop = watchLoop();
    const { seconds } = await timed(async () => {
      await engine.start(flow, { id: "window", input: { mails: CHILDREN } });
      await engine.waitFor(flow, "window", "final");
    });
    report({ name: "children, a hundred at a time", children: CHILDREN, seconds, ...loop(), largest });
    await engine.stop();
    await storage.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
