/** Charts that change: instances move from version to version of their chart, and what waits for them moves along. */
import { assign, fromPromise, createMachine, setup } from "xstate";
import { describe, expect, it } from "vitest";
import { currentRun, MigrationFailed, workflow, type PreviousInstance } from "paystate/engine";
import type { PaymentTables } from "../../src/payments/payment-storage.ts";
import { inMemory } from "../kit/adapters.ts";
import { gate, inWorld } from "../kit/engine-world.ts";
import { taskIdAt } from "../kit/task-ids.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

type Charge = (key: string) => Promise<string>;

/** An order as it was at first: one amount, one state in which it is paid. */
function orderOne(charge: Charge = async () => "receipt") {
  return setup({
    types: {
      context: {} as { amount: number; receipt: string | null },
      input: {} as { amount: number },
      events: {} as { type: "PAY" } | { type: "NOTE"; text: string },
    },
    actors: { charge: fromPromise<string>(() => charge(currentRun().key)) },
  }).createMachine({
    id: "order",
    context: ({ input }) => ({ amount: input.amount, receipt: null }),
    initial: "open",
    states: {
      open: { on: { PAY: "paying" }, after: { [10 * MINUTE]: "late" } },
      paying: {
        invoke: {
          id: "charge",
          src: "charge",
          onDone: { target: "paid", actions: assign({ receipt: ({ event }) => event.output }) },
        },
      },
      paid: { type: "final" },
      late: { type: "final" },
    },
  });
}

interface Line {
  readonly price: number;
}

/** The same after a year: lines instead of an amount, other names of states, of the promise and of the timer. */
function orderThree(charge: Charge = async () => "receipt") {
  return setup({
    types: {
      context: {} as { lines: readonly Line[]; notes: readonly string[]; receipt: string | null },
      input: {} as { lines: readonly Line[] },
      events: {} as { type: "PAY" } | { type: "NOTE"; text: string },
    },
    actors: { chargeCard: fromPromise<string>(() => charge(currentRun().key)) },
    delays: { patience: 20 * MINUTE },
  }).createMachine({
    id: "order",
    context: ({ input }) => ({ lines: input.lines, notes: [], receipt: null }),
    initial: "basket",
    on: { NOTE: { actions: assign({ notes: ({ context, event }) => [...context.notes, event.text] }) } },
    states: {
      basket: { on: { PAY: "payment" }, after: { patience: "late" } },
      payment: {
        initial: "charging",
        states: {
          charging: {
            invoke: {
              id: "charging",
              src: "chargeCard",
              onDone: { target: "#order.paid", actions: assign({ receipt: ({ event }) => event.output }) },
            },
            after: { [MINUTE]: "slow" },
          },
          slow: {},
        },
      },
      paid: { id: "order.paid", type: "final" },
      late: { type: "final" },
    },
  });
}

const first = (charge?: Charge) => workflow(orderOne(charge))({ version: 1 });

const third = (charge?: Charge) =>
  workflow(orderThree(charge))({
    version: 3,
    migrate: {
      1: ({ value, context }: PreviousInstance) => ({
        value,
        context: { prices: [context["amount"]], receipt: context["receipt"] },
      }),
      2: ({
        value,
        context,
        timers,
      }: PreviousInstance<{ prices: readonly number[]; receipt: string | null }>) => ({
        value: value === "open" ? ("basket" as const) : ({ payment: "charging" } as const),
        context: { lines: context.prices.map((price) => ({ price })), notes: [], receipt: context.receipt },
        timers: Object.fromEntries(
          Object.values(timers).map((dueAt) => ["xstate.after.patience.order.basket", dueAt + 10 * MINUTE]),
        ),
        children: { charge: "charging" },
      }),
    },
  });

const { test, engine, running, clock, storage, settled, pass } = engineTest("versions");

test("versions chain: value, context and timers go on under the newest, and the history tells it", async () => {
  const [old, now] = [first(), third()];
  const before = await engine(old);
  await before.start(old, { id: "o", input: { amount: 7 } });
  await pass(4 * MINUTE);
  const after = await engine(now);
  expect(await after.send(now, "o", { type: "NOTE", text: "quick" })).toMatchObject({
    kind: "stepped",
    snapshot: { value: "basket", context: { lines: [{ price: 7 }], notes: ["quick"], receipt: null } },
  });
  expect(await after.read("o")).toMatchObject({ workflow: "order@3", steps: 3 });
  expect(await after.history("o")).toMatchObject([
    { event: { type: "$started" }, value: "open" },
    {
      version: 2,
      event: {
        type: "$migrated",
        from: "order@1",
        to: "order@3",
        snapshot: { value: "basket", context: { lines: [{ price: 7 }], notes: [] } },
      },
      value: "basket",
    },
    { event: { type: "NOTE" } },
  ]);
  const { timers } = await after.pending("o");
  expect(timers).toMatchObject([
    { name: "xstate.after.patience.order.basket", dueAt: clock.now() + 16 * MINUTE, workflow: "order@3" },
  ]);
  after.run();
  await pass(16 * MINUTE - 1);
  expect(await after.read("o")).toMatchObject({ value: "basket" });
  await pass(1);
  expect(await after.read("o")).toMatchObject({ value: "late", status: "done" });
});

test("a timer of an old version that is due migrates its instance, and fires unless it ends with the migration", async () => {
  const old = first();
  const before = await engine(old);
  await before.start(old, { id: "o", input: { amount: 7 } });
  await before.start(old, { id: "kept", input: { amount: 7 } });
  const now = workflow(orderOne())({
    version: 2,
    migrate: {
      1: ({ id, context }: PreviousInstance<{ amount: number; receipt: null }>) => ({
        value: id === "kept" ? ("open" as const) : ("paying" as const),
        context,
      }),
    },
  });
  const after = await running(now);
  await pass(10 * MINUTE);
  expect(await after.read("kept")).toMatchObject({ workflow: "order@2", value: "late" });
  // The promise of the state that it was put into has begun, and the timer of the other state has ended.
  expect(await after.read("o")).toMatchObject({ workflow: "order@2", value: "paid" });
});

test("a promise that runs goes on under its id and key, also where the new version calls it otherwise", async () => {
  const keys: string[] = [];
  const dying = gate<string>();
  const old = first((key) => {
    keys.push(key);
    return dying.opened;
  });
  const before = await running({ workflows: [old], leaseMs: 10_000 });
  await before.start(old, { id: "o", input: { amount: 7 } });
  await before.send(old, "o", { type: "PAY" });
  await before.stop({ timeoutMs: 0 });
  const now = third(async (key) => {
    keys.push(key);
    return "new receipt";
  });
  const after = await running(now);
  clock.advance(1);
  await pass(MINUTE);
  expect(await after.read("o")).toMatchObject({ value: "paid", context: { receipt: "new receipt" } });
  expect(new Set(keys)).toEqual(new Set([await taskIdAt(after, "o", { step: 2, index: 1 })]));
  dying.open("late");
});

test("a migration that throws leaves the instance as it was, in the open, until a better one comes", async () => {
  const old = first();
  const before = await engine(old);
  await before.start(old, { id: "o", input: { amount: 7 } });
  const asItWas = await storage.load("o");
  const bad = workflow(orderOne())({
    version: 2,
    migrate: {
      1: () => {
        throw new Error("no amount");
      },
    },
  });
  const failing = await engine(bad);
  const sent = failing.send(bad, "o", { type: "PAY" });
  await expect(sent).rejects.toThrow(
    new MigrationFailed(
      { instance: "o", from: "order@1", to: "order@2" },
      "migrate.1",
      "it threw: no amount",
    ),
  );
  failing.run();
  await pass(10 * MINUTE);
  expect(await failing.pending("o")).toMatchObject({
    timers: [
      { lastError: "instance o cannot go on from order@1 to order@2: migrate.1: it threw: no amount" },
    ],
  });
  expect(await failing.list({ failing: true })).toMatchObject({
    instances: [{ id: "o", workflow: "order@1" }],
  });
  expect(await storage.load("o")).toEqual(asItWas);
  await failing.stop();
  const good = await running(third());
  await pass(30 * MINUTE);
  expect(await good.read("o")).toMatchObject({ value: "late", workflow: "order@3" });
});

test("R36: a migration whose rows the database refuses is an error, and leaves the instance as it was", async () => {
  const old = first();
  const before = await engine(old);
  await before.start(old, { id: "o", input: { amount: 7 } });
  const asItWas = await storage.load("o");
  const writes = [{ table: "facts" as const, insert: { id: "taken", value: "" } }];
  await storage.commit([{ writes }]);
  const next = workflow(orderOne())<PaymentTables>({ version: 2, migrate: { 1: () => ({ writes }) } });
  const moving = await engine(next);
  await expect(moving.send(next, "o", { type: "PAY" })).rejects.toThrow("own step of o was refused");
  expect(await storage.load("o")).toEqual(asItWas);
  before.run();
  await pass(10 * MINUTE);
});

test("D40: the effect of an instance that has ended goes on under the name that its migration gives", async () => {
  const did: string[] = [];
  const saleOf = (action: string) =>
    createMachine({ id: "sale", initial: "sold", states: { sold: { entry: action, type: "final" } } });
  const effectOf = (name: string) => ({ [name]: async () => void did.push(name) });
  const old = workflow(saleOf("mail"))({ version: 1, effects: effectOf("mail") as never });
  await engine(old, "s");
  const newer = (version: number, migrate: object) =>
    workflow(saleOf("post"))({ version, effects: effectOf("post") as never, migrate: migrate as never });
  const careless = await running(newer(2, { 1: ({ value }: PreviousInstance) => ({ value }) }));
  await settled();
  const [failing] = (await careless.pending("s")).tasks;
  expect(failing?.lastError).toContain("return effects: { old: new }");
  await careless.stop();
  const now = newer(3, {
    1: () => ({ effects: { mail: "send" } }),
    2: () => ({ effects: { send: "post" } }),
  });
  const after = await running(now);
  await pass(2_000);
  expect(did).toEqual(["post"]);
  expect(await after.pending("s")).toMatchObject({ tasks: [] });
  expect(await after.read("s")).toMatchObject({ workflow: "sale@1", status: "done", steps: 1 });
});

describe("a migration is refused, naming chart and path", () => {
  const refused = (answer: unknown): Promise<string> =>
    new Promise((resolve, reject) => {
      inWorld(inMemory, async ({ engine, running }) => {
        const old = first();
        const before = await running(old);
        await before.start(old, { id: "o", input: { amount: 7 } });
        const now = workflow(orderThree())({ version: 2, migrate: { 1: () => answer as never } });
        const after = await engine(now);
        const error = await after.send(now, "o", { type: "PAY" }).catch((each: unknown) => each);
        resolve(error instanceof MigrationFailed ? error.message : `no refusal: ${JSON.stringify(error)}`);
      }).catch(reject);
    });
  const context = { lines: [], notes: [], receipt: null };
  const from = "instance o cannot go on from order@1 to order@2: ";

  it.each([
    [
      "a state that the chart does not have",
      { value: "gone", context },
      'value.gone: the chart has no state "gone" in "order", only basket, payment, paid, late',
    ],
    [
      "a state within a state",
      { value: { payment: "wiring" }, context },
      'value.payment.wiring: the chart has no state "wiring" in "order.payment", only charging, slow',
    ],
    ["a final state", { value: "paid", context }, "value: it is final: migrate to a state that leads there"],
    [
      "nothing",
      undefined,
      "migrate.1: expected it to return an object, such as { value, context }, and no promise",
    ],
    [
      "a promise",
      Promise.resolve({ value: "basket", context }),
      "migrate.1: expected it to return an object, such as { value, context }, and no promise",
    ],
    [
      "a field that there is not",
      { value: "basket", contxt: context },
      "migrate.1.contxt: expected only value, context, timers, children, effects, writes",
    ],
    ["no context", { value: "basket", context: null }, "migrate.1.context: expected an object"],
    ["a list for a context", { value: "basket", context: [] }, "migrate.1.context: expected an object"],
    [
      "a context that cannot be stored",
      { value: "basket", context: { ...context, lines: [() => {}] } },
      "context.lines[0]: context.lines[0] cannot be stored: it is a function; store plain data, or an id that finds the thing again",
    ],
    [
      "a timer of no state",
      { value: "basket", context, timers: { other: 1 } },
      "timers.other: no timer of this name runs in this state: there are xstate.after.600000.order.open, xstate.after.patience.order.basket",
    ],
  ])("%s", async (_, answer, message) => {
    expect(await refused(answer)).toBe(from + message);
  });
});

it("what cannot be a migration is refused at registration", () => {
  const migrate = { 1: ({ value, context }: PreviousInstance) => ({ value, context }), 3: 5 };
  expect(() => workflow(orderOne())({ version: 3, migrate: migrate as never })).toThrow(
    [
      "- migrate.1: it leads to version 2, and migrate.2 is missing",
      "- migrate.3: expected a version below 3",
    ].join("\n"),
  );
});
