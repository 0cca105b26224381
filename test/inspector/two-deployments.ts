/** A loan that two deployments have worked on: the second renames its states and its context, and moves the instance. */
import { assign, setup } from "xstate";
import {
  createEngine,
  workflow,
  type AnyWorkflow,
  type Engine,
  type PreviousInstance,
} from "../../src/engine/index.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";

const first = workflow(
  setup({ types: { context: {} as { euros: number } } }).createMachine({
    id: "loan",
    context: { euros: 1 },
    initial: "asked",
    states: {
      asked: { on: { MORE: { target: "raised", actions: assign({ euros: 40 }) } } },
      raised: { on: { MORE: { actions: assign({ euros: ({ context }) => context.euros + 2 }) } } },
    },
  }),
)({ version: 1 });

const second = workflow(
  setup({ types: { context: {} as { cents: number } } }).createMachine({
    id: "loan",
    context: { cents: 7 },
    initial: "wanted",
    states: {
      wanted: { on: { MORE: "checked" } },
      checked: {
        on: { PAY: { target: "paid", actions: assign({ cents: ({ context }) => context.cents + 99 }) } },
      },
      paid: { type: "final" },
    },
  }),
)({
  version: 2,
  migrate: {
    1: ({ context }: PreviousInstance<{ euros: number }>) => ({
      value: "checked" as const,
      context: { cents: context.euros * 100 },
    }),
  },
});

/** What is stored of the loan `l`, and the charts of both deployments. */
export interface MovedLoan {
  readonly storage: EngineStorage;
  readonly clock: VirtualClock;
  /** That of the second deployment. */
  readonly engine: Engine<unknown>;
  readonly first: AnyWorkflow;
  readonly second: AnyWorkflow;
}

/** Three steps under version 1, the migration as the fourth, and a last step under version 2. */
export async function movedLoan(): Promise<MovedLoan> {
  const [clock, storage] = [virtualClock(), await sqliteStorage(":memory:")];
  const own = { storage, clock, logger: silentLogger };
  const before = createEngine({ ...own, workflows: [first] });
  await before.start(first, { id: "l", input: undefined });
  await before.send(first, "l", { type: "MORE" });
  await before.send(first, "l", { type: "MORE" });
  await before.stop();
  const engine = createEngine({ ...own, workflows: [second] });
  await engine.send(second, "l", { type: "PAY" });
  return { storage, clock, engine, first, second };
}
