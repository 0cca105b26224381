/** The order of a shop in four steps, each with work that may be done by any process. */
import { setup } from "xstate";
import { workflow } from "paystate/engine";

const chart = setup({
  types: { events: {} as { type: "DONE" } },
  actions: { work: (_, _params: { readonly step: string }) => {} },
}).createMachine({
  id: "order",
  initial: "pick",
  states: {
    pick: { entry: { type: "work", params: { step: "picked" } }, on: { DONE: "pack" } },
    pack: { entry: { type: "work", params: { step: "packed" } }, on: { DONE: "label" } },
    label: { entry: { type: "work", params: { step: "labelled" } }, on: { DONE: "ship" } },
    ship: { entry: { type: "work", params: { step: "shipped" } }, on: { DONE: "gone" } },
    gone: { type: "final" },
  },
});

/** The workflow, whose work one worker does by waiting a moment and telling what it did. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- the compiler knows the type of a workflow best
export const orderAt = (worker: string, tell: (line: string) => void) =>
  workflow(chart)({
    version: 1,
    effects: {
      work: async ({ step }: { readonly step: string }, { instance }: { readonly instance: string }) => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        tell(`${worker} ${step} ${instance}`);
        return { event: { type: "DONE" as const } };
      },
    },
  });
