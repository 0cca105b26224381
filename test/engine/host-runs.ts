/** What a host starts within its transactions. */
// modules: host-sql
import { assign, setup } from "xstate";
import { defineTable, workflow, type Workflow } from "paystate/engine";

const chart = setup({
  types: {
    input: {} as { readonly shop: string },
    context: {} as { readonly shop: string; readonly heard: readonly string[] },
    events: {} as { readonly type: "PART"; readonly part: string },
  },
  actions: { pack: (_, _params: { readonly shop: string }) => {} },
}).createMachine({
  id: "run",
  context: ({ input }) => ({ ...input, heard: [] }),
  initial: "open",
  states: {
    open: {
      entry: { type: "pack", params: ({ context }) => ({ shop: context.shop }) },
      on: { PART: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.part] }) } },
    },
  },
});

/** Runs that pack one at a time in each shop, and hear of parts that come later. */
export const runsThat = (pack: (instance: string) => void): Workflow<typeof chart, HostTables> =>
  workflow(chart)<HostTables>({
    version: 1,
    effects: {
      pack: {
        limit: ({ shop }) => ({ key: shop, atMost: 1 }),
        run: async (_, { instance }) => {
          pack(instance);
          return undefined;
        },
      },
    },
  });

/** Rows of the host that the engine keeps. */
export const notes = defineTable("notes", {
  columns: { id: "text", shop: "text", at: "integer" },
  group: { by: ["shop"], since: "at" },
});

export interface HostTables {
  readonly notes: { readonly id: string; readonly shop: string; readonly at: number };
}
