/** The charts of the stored lives that later versions go on with. */
import { assign, setup } from "xstate";
import { workflow, type Workflow } from "../../../src/workflow/workflow.ts";

const errand = setup({
  types: { events: {} as { readonly type: "BACK" } },
}).createMachine({
  id: "errand",
  initial: "away",
  states: { away: { on: { BACK: "back" } }, back: { type: "final" } },
});

const order = setup({
  types: {
    context: {} as { readonly paid: readonly string[] },
    events: {} as { readonly type: "PAY"; readonly by: string } | { readonly type: "SHIP" },
  },
  actors: { errand },
  actions: { receipt: (_, _params: { readonly to: string }) => {} },
}).createMachine({
  id: "order",
  context: { paid: [] },
  initial: "open",
  states: {
    open: {
      meta: { watches: ["ledger"] },
      invoke: { src: "errand", id: "errand", onDone: "fetched" },
      after: { 60_000: "expired" },
      on: {
        PAY: {
          actions: [
            assign({ paid: ({ context, event }) => [...context.paid, event.by] }),
            { type: "receipt", params: ({ event }) => ({ to: event.by }) },
          ],
        },
        SHIP: "shipped",
      },
    },
    fetched: { type: "final" },
    expired: { type: "final" },
    shipped: { type: "final" },
  },
});

/** `did` is told under which key each receipt was written. */
export const orders = (did: (key: string, to: string) => void): Workflow<typeof order, unknown> =>
  workflow(order)({
    version: 1,
    watches: { ledger: () => "ledger" },
    effects: {
      receipt: async ({ to }, { key }) => {
        did(key, to);
        return undefined;
      },
    },
  });
