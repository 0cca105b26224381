/** One process of ours in the bench beside peers: four steps which each record a result, on the database that it is told. */
import { setTimeout as wait } from "node:timers/promises";
import { setup } from "xstate";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { newId } from "../../src/payments/ids.ts";
import { silentLogger, systemClock, systemRandom } from "../../src/runtime.ts";
import type { AnyCommit, EngineStorage } from "../../storage/storage.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { inParallel } from "./figures.ts";

/** What every process of this bench is told as JSON in its first argument; peers are told the first three. */
export interface PeerSettings {
  /** Of the server; of ours also the path of a file. */
  readonly url: string;
  readonly workflows: number;
  readonly atOnce: number;
  /** `hold`: effects that do not end are started and held. `take`: whatever is due is done, and told workflow by workflow. */
  readonly role?: "run" | "hold" | "take";
}

/** What ours says when a window of workflows is done. */
export interface PeerDone {
  readonly done: number;
  /** How long each group of commits took, in milliseconds. */
  readonly commitMs: readonly number[];
}

const STEPS = 4;
/** Another process may have made the last step: it is looked for after so long without news. */
const LOOK_MS = 1_000;

const { url, workflows, atOnce, role = "run" } = JSON.parse(process.argv[2] ?? "") as PeerSettings;

const { createMachine, assign } = setup({
  types: {
    context: {} as { step: number; results: readonly number[] },
    events: {} as { type: "WORKED"; result: number },
  },
  actions: { work: (_, _params: { step: number }) => {} },
  guards: { isLast: ({ context }) => context.step === STEPS },
});
const record = assign({
  step: ({ context }) => context.step + 1,
  results: ({ context, event }) => [...context.results, event.result],
});
const chart = createMachine({
  id: "peer",
  context: () => ({ step: 1, results: [] }),
  initial: "working",
  states: {
    working: {
      entry: { type: "work", params: ({ context }) => ({ step: context.step }) },
      on: {
        WORKED: [
          { guard: "isLast", target: "done", actions: record },
          { target: "working", reenter: true, actions: record },
        ],
      },
    },
    done: { type: "final" },
  },
});
const fourSteps = workflow(chart)({
  version: 1,
  effects: {
    work: async ({ step }) => {
      if (role === "hold") await new Promise(() => undefined);
      return { event: { type: "WORKED", result: step } };
    },
  },
});

let commitMs: number[] = [];
function timingCommits(storage: EngineStorage): EngineStorage {
  return {
    ...storage,
    async commit(items: readonly AnyCommit[]) {
      const began = performance.now();
      const results = await storage.commit(items);
      commitMs.push(performance.now() - began);
      return results;
    },
  };
}

const storage = timingCommits(
  await (url.startsWith("postgres:") ? postgresStorage(url) : sqliteStorage(url)),
);
const engine = createEngine({ storage, workflows: [fourSteps], slots: 256, logger: silentLogger });
const ended = new Map<string, () => void>();
engine.subscribe(({ commit: { step } }) => {
  if (step?.status !== "done") return;
  ended.get(step.id)?.();
  if (role === "take") process.send?.({ took: step.id });
});

async function one(): Promise<void> {
  const id = newId("tx", systemClock.now(), systemRandom);
  const told = new Promise<void>((resolve) => {
    ended.set(id, resolve);
  });
  const looking = new AbortController();
  await engine.start(fourSteps, { id, input: undefined });
  const looked = wait(LOOK_MS, undefined, { signal: looking.signal }).then(async () => {
    await engine.waitFor(fourSteps, id, "final", { signal: looking.signal });
  });
  await Promise.race([told, looked]);
  ended.delete(id);
  looking.abort();
  await looked.catch(() => {});
}

let isRunning = false;
process.on("message", () => {
  if (!isRunning) engine.run();
  isRunning = true;
  if (role === "take") return;
  commitMs = [];
  void inParallel(workflows, atOnce, one).then(() => {
    process.send?.({ done: workflows, commitMs } satisfies PeerDone);
  });
});
process.once("disconnect", () => process.exit());
process.send?.({ ready: true });
