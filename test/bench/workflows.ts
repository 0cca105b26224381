/** Small durable workflows: four steps, each with one effect, or one promise, before it. */
import { fromPromise, setup, type AnyStateMachine } from "xstate";
import { createEngine, workflow, type Workflow, type WorkflowOptions } from "../../src/engine/index.ts";
import type { PaymentStorage, PaymentTables } from "../../src/payments/payment-storage.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { costOf, inParallel, type Cost } from "./figures.ts";

/** A workflow that a bench runs. */
export type BenchedWorkflow = Workflow<AnyStateMachine, PaymentTables>;
type Project = NonNullable<WorkflowOptions<AnyStateMachine, PaymentTables>["project"]>;

/** Its results so far. */
interface Context {
  readonly results: readonly number[];
}

const NAMES = ["one", "two", "three", "four", "done"] as const;

/** Each state and the next one, and the step that it is. */
const STEPS = NAMES.slice(1).map((target, index) => ({ state: NAMES[index] ?? "", target, step: index + 1 }));
const done = { type: "final" } as const;

const { createMachine, assign } = setup({
  types: { context: {} as Context, events: {} as { type: "WORKED"; result: number } },
  actions: { work: (_, _params: { step: number }) => {} },
});
const recorded = assign({ results: ({ context, event }) => [...context.results, event.result] });
const effects = createMachine({
  id: "bench",
  context: () => ({ results: [] }),
  initial: "one",
  states: {
    ...Object.fromEntries(
      STEPS.map(({ state, target, step }) => [
        state,
        {
          entry: { type: "work" as const, params: { step } },
          on: { WORKED: { target, actions: recorded } },
        },
      ]),
    ),
    done,
  },
});

const invoking = setup({
  types: { context: {} as Context },
  actors: { work: fromPromise<number, { step: number }>(async ({ input }) => input.step) },
});
const recordedEnd = invoking.assign({
  results: ({ context, event }) => [...context.results, (event as unknown as { output: number }).output],
});
const promises = invoking.createMachine({
  id: "bench",
  context: () => ({ results: [] }),
  initial: "one",
  states: {
    ...Object.fromEntries(
      STEPS.map(({ state, target, step }) => [
        state,
        { invoke: { src: "work" as const, input: { step }, onDone: { target, actions: recordedEnd } } },
      ]),
    ),
    done,
  },
});

const project: Project = ({ id, before, after }, at) => {
  if (before === null) return [];
  const unknown = {
    reason: null,
    signature: null,
    blockTime: null,
    fee: null,
    body: null,
    received: null,
    remaining: null,
  };
  const step = (after.context as Context).results.length;
  const notice = { event: "transaction.pending", status: "pending", createdAt: at, ...unknown } as const;
  return [{ table: "notices", insert: { id: `${id}:${step}`, transactionId: id, ...notice } }];
};

const work = async ({ step }: { step: number }) => ({ event: { type: "WORKED" as const, result: step } });

/** Each step has a notice, too. */
export const withEffects: BenchedWorkflow = workflow(effects)<PaymentTables>({
  version: 1,
  effects: { work },
  project,
});
export const withPromises: BenchedWorkflow = workflow(promises)<PaymentTables>({ version: 1, project });
/** No more than peers do: each step records a result. */
export const withResults: BenchedWorkflow = workflow(effects)<PaymentTables>({
  version: 1,
  effects: { work },
});

/** How many are run, and how many of them at once. */
export interface HowMany {
  readonly total: number;
  readonly atOnce: number;
}

/** An engine at work. */
export interface BenchedEngine {
  run(howMany: HowMany): Promise<Cost>;
  close(): Promise<void>;
}

let started = 0;

/** Five commits for each workflow: the start and four steps. The storage is closed with the engine. */
export function benchedEngine(storage: PaymentStorage, benched: BenchedWorkflow): BenchedEngine {
  const options = { storage, workflows: [benched], slots: 256, logger: silentLogger };
  const engine = createEngine<PaymentTables>(options);
  const ended = new Map<string, () => void>();
  engine.subscribe(({ commit: { step } }) => {
    if (step?.status === "done") ended.get(step.id)?.();
  });
  engine.run();
  const one = async (): Promise<void> => {
    const id = `bench-${String((started += 1)).padStart(8, "0")}`;
    const end = new Promise<void>((resolve) => {
      ended.set(id, resolve);
    });
    await engine.start(benched, { id, input: undefined });
    await end;
    ended.delete(id);
  };
  return {
    run: ({ total, atOnce }) => costOf(total, () => inParallel(total, atOnce, one)),
    async close() {
      await engine.stop();
      await storage.close();
    },
  };
}
