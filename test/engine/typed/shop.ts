/** A shop whose orders need a person's consent: what the planted mistakes are made with. */
import { assign, fromPromise, setup } from "xstate";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";

export const approval = setup({
  types: {
    context: {} as { by: string | null },
    events: {} as { type: "APPROVE"; by: string },
    output: {} as { by: string },
  },
}).createMachine({
  id: "approval",
  context: { by: null },
  initial: "asked",
  states: {
    asked: { on: { APPROVE: { target: "given", actions: assign({ by: ({ event }) => event.by }) } } },
    given: { type: "final" },
  },
  output: ({ context }) => ({ by: context.by ?? "nobody" }),
});

export const order = setup({
  types: {
    context: {} as { card: string; receipt: string | null },
    input: {} as { card: string },
    events: {} as { type: "PACK"; parcel: string } | { type: "CANCEL" },
    output: {} as { receipt: string | null },
  },
  actors: {
    approver: approval,
    charge: fromPromise<string, { card: string }>(async ({ input }) => `receipt of ${input.card}`),
  },
  actions: { thank: (_, _params: { card: string }) => {} },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ ...input, receipt: null }),
  initial: "asking",
  states: {
    asking: { invoke: { src: "approver", id: "approver", onDone: "paying" }, on: { CANCEL: "cancelled" } },
    paying: {
      invoke: {
        src: "charge",
        input: ({ context }) => ({ card: context.card }),
        onDone: { target: "shipping", actions: assign({ receipt: ({ event }) => event.output }) },
      },
    },
    shipping: {
      initial: "packing",
      states: { packing: { on: { PACK: "packed" } }, packed: {} },
      on: { CANCEL: "cancelled" },
    },
    cancelled: { type: "final", entry: { type: "thank", params: ({ context }) => ({ card: context.card }) } },
  },
  output: ({ context }) => ({ receipt: context.receipt }),
});

/** A name for the type of the machine, so that a hover of its workflow is one line. */
export interface OrderChart extends NonNullable<typeof order> {}

export const effects = { thank: async (): Promise<undefined> => undefined };
export const orders = workflow<OrderChart>(order)({ version: 2, effects });
/** The same chart under the version before. */
export const old = workflow(order)({ version: 1, effects });
/** Another chart, which the engine does not have. */
export const approvals = workflow(approval)({ version: 1 });

/** Writes a table that the engine does not have. */
export const weighed = workflow(approval)<{ readonly parcels: { readonly id: string } }>({ version: 3 });

export const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [orders, old] });
