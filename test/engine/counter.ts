/** The smallest chart that remembers: it counts what is added. */
import { assign, setup } from "xstate";
import { workflow } from "paystate/engine";

export const counter = setup({
  types: { context: {} as { count: number }, events: {} as { type: "ADD" } },
}).createMachine({
  id: "counter",
  context: { count: 0 },
  initial: "open",
  states: { open: { on: { ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) } } } },
});

export const counters = workflow(counter)({ version: 1 });
