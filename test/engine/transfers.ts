/** Transfers that a handler makes in a transaction, each a row of a table in which it could stand twice. */
// modules: host-sql
import { setup } from "xstate";
import { type SqlTransaction, workflow, type Workflow } from "paystate/engine";

const chart = setup({
  types: { events: {} as { readonly type: "MOVED"; readonly run: number } },
  actions: { move: (_, _params: { readonly limit?: string }) => {} },
}).createMachine({
  id: "transfer",
  initial: "moving",
  states: {
    moving: { entry: { type: "move", params: {} }, on: { MOVED: "moved" } },
    moved: { type: "final" },
  },
});

export type Move = SqlTransaction<
  { readonly limit?: string },
  { readonly type: "MOVED"; readonly run: number },
  unknown
>;

export const transfersThat = (move: Move): Workflow<typeof chart, unknown> =>
  workflow(chart)({ version: 1, effects: { move } });

/** Adds a row, and one to a sum that all transfers share. */
export const movesIn = (table: string): Move["transact"] =>
  async function move(_, client, { instance }) {
    await client.query(`insert into ${table} (transfer) values ($1)`, [instance]);
    await client.query(`update ${table}_sum set number = number + 1`);
    return { event: { type: "MOVED", run: 1 } };
  };
