/** A chart that watches a horizon for a ship, and ends when the ship is seen. */
import { setup } from "xstate";
import { workflow } from "paystate/engine";

const chart = setup({
  types: { context: {} as { readonly ship: string }, input: {} as { readonly ship: string } },
}).createMachine({
  id: "harbour",
  context: ({ input }) => input,
  initial: "expecting",
  states: {
    expecting: { meta: { watches: ["horizon"] }, on: { SEEN: "arrived" } },
    arrived: { type: "final" },
  },
});
export const harbour = workflow(chart)({ version: 1, effects: {}, watches: { horizon: ({ ship }) => ship } });
