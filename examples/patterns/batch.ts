/** Batching: single lines are written together, as soon as there are enough of them, or the first has waited long enough. */
import { assign, fromPromise, setup } from "xstate";
import { currentRun, workflow } from "paystate/engine";
import { call, type Play } from "./pattern.ts";

const MOST = 3;
const PATIENCE_MS = 300;

const ledger = setup({
  types: {
    context: {} as { readonly waiting: readonly string[]; readonly writing: readonly string[] },
    events: {} as { readonly type: "ADD"; readonly line: string },
  },
  actors: {
    // May run twice: the key, the same on each run, lets the lines be written once.
    write: fromPromise<void, readonly string[]>(({ input, signal }) =>
      call(`writes ${input.join()}, key …${currentRun().key.slice(-4)}`, signal),
    ),
  },
  actions: {
    add: assign({ waiting: ({ context, event }) => [...context.waiting, event.line] }),
    take: assign({
      writing: ({ context }) => context.waiting.slice(0, MOST),
      waiting: ({ context }) => context.waiting.slice(MOST),
    }),
  },
}).createMachine({
  id: "ledger",
  context: { waiting: [], writing: [] },
  // In every state: a line that comes while others are written waits for the next batch.
  on: { ADD: { actions: "add" } },
  initial: "idle",
  states: {
    idle: { always: { guard: ({ context }) => context.waiting.length > 0, target: "collecting" } },
    collecting: {
      always: { guard: ({ context }) => context.waiting.length >= MOST, target: "writing" },
      after: { [PATIENCE_MS]: "writing" },
    },
    writing: {
      entry: "take",
      invoke: { src: "write", input: ({ context }) => context.writing, onDone: "idle" },
    },
  },
});

export const flow = workflow(ledger)({ version: 1 });

export const play: Play = async (engine) => {
  await engine.start(flow, { id: "ledger", input: undefined }); // one instance for all lines
  for (const line of ["a", "b", "c", "d"]) await engine.send(flow, "ledger", { type: "ADD", line });
  await engine.waitFor(flow, "ledger", { state: "idle" });
};
