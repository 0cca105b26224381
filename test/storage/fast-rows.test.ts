/** What is bound on the path of a step: rows whose fields V8 finds by their place, and not by looking up each name. */
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { expect, onTestFinished, test, vi } from "vitest";
import { fromPromise, setup } from "xstate";
import { workflow } from "paystate/engine";
import type { PaymentTables } from "../../src/payments/payment-storage.ts";
import { instanceStatements } from "../../storage/sql/instance-statements.ts";
import { taskStatements } from "../../storage/sql/task-statements.ts";
import { Connection } from "../../storage/sqlite/connection.ts";
import { onSqlite } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";

setFlagsFromString("--allow-natives-syntax");
const hasFastProperties = new Script("(row) => %HasFastProperties(row)").runInThisContext() as (
  row: object,
) => boolean;

const child = setup({}).createMachine({ id: "child", initial: "end", states: { end: { type: "final" } } });
const chart = setup({
  types: { events: {} as { type: "DONE" } },
  actors: { book: fromPromise(async () => "booked"), child },
  actions: { write: () => {} },
}).createMachine({
  id: "fast",
  initial: "writing",
  states: {
    writing: { entry: "write", on: { DONE: "booking" } },
    booking: { invoke: { src: "book", onDone: "waiting" } },
    waiting: { after: { 5: "asking" } },
    asking: { invoke: { src: "child", id: "child", onDone: "over" } },
    over: { type: "final" },
  },
});
const fast = workflow(chart)<PaymentTables>({
  version: 1,
  effects: { write: async () => ({ event: { type: "DONE" as const } }) },
});

/** The statements whose rows are looked at. */
const ROWS = new Map<string, string>([
  [taskStatements.insert.text, "task"],
  [instanceStatements.start.text, "start"],
  [instanceStatements.step.text, "step"],
  [instanceStatements.record.text, "history"],
]);

test("rows of tasks, instances and history are bound with fast properties, of whatever kind the step is", () =>
  inWorld(onSqlite, async ({ engine, pass, settled }) => {
    const bound: (readonly [table: string, isFast: boolean])[] = [];
    const { run } = Connection.prototype;
    const spy = vi.spyOn(Connection.prototype, "run").mockImplementation(function (
      this: Connection,
      statement,
      values,
    ) {
      const table = ROWS.get(statement.text);
      if (table !== undefined) bound.push([table, hasFastProperties(values)]);
      return run.call(this, statement, values);
    });
    onTestFinished(() => spy.mockRestore());
    const one = await engine({ workflows: [fast] });
    one.run();
    await one.start(fast, { id: "f", input: undefined });
    await settled();
    await pass(5);
    expect((await one.read("f"))?.status).toBe("done");
    expect(new Set(bound.map(([table]) => table))).toEqual(new Set(ROWS.values()));
    expect(bound.filter(([, isFast]) => !isFast)).toEqual([]);
  }));
