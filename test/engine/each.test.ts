/** Many instances at once: `each(filter)` as a durable job. */
// modules: jobs, search
import { expect, it } from "vitest";
import { assign, setup } from "xstate";
import { createEngine, workflow, type Engine } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { silentLogger } from "../../src/core/runtime.ts";
import { everyAdapter, type Adapter } from "../kit/adapters.ts";
import { inWorld, type EngineWorld } from "../kit/engine-world.ts";
import { mortalProcess } from "../kit/mortal.ts";
import { byDepth, sampled } from "../kit/thorough.ts";
import { engineTest } from "../kit/engine-test.ts";

interface Order {
  readonly customer: string;
  readonly marks: number;
  readonly note: string;
}

const chart = setup({
  types: {
    context: {} as Order,
    input: {} as Pick<Order, "customer"> & Partial<Pick<Order, "note">>,
    events: {} as
      { type: "MARK"; by?: string } | { type: "PAY" } | { type: "GIVE"; to: string } | { type: "CLOSE" },
  },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ note: "", ...input, marks: 0 }),
  initial: "open",
  states: { open: { on: { PAY: "paid", CLOSE: "closed" } }, paid: {}, closed: { type: "final" } },
  on: {
    MARK: { actions: assign({ marks: ({ context }) => context.marks + 1 }) },
    GIVE: { actions: assign({ customer: ({ event }) => event.to }) },
  },
});

const orders = workflow(chart)({ version: 1, search: { customer: ({ context }) => context.customer } });
const ada = { where: { customer: "ada" } } as const;

type AnyEngine = Pick<Engine<never>, "start" | "read" | "list">;

/** Starts orders of the customer, a millisecond before whatever comes next. */
async function startOrders(
  { clock, awaitsOutside }: EngineWorld,
  engine: AnyEngine,
  { customer, ids }: { readonly customer: string; readonly ids: readonly string[] },
): Promise<void> {
  awaitsOutside(...ids);
  await Promise.all(ids.map((id) => engine.start(orders, { id, input: { customer } })));
  clock.set(clock.now() + 1);
}

const idsOf = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${letter}${String(index).padStart(4, "0")}`);

async function marksOf(engine: AnyEngine, ids: readonly string[]): Promise<readonly number[]> {
  const found = await Promise.all(ids.map((id) => engine.read(orders, id)));
  return found.map((order) => order?.context.marks ?? -1);
}

/** The charts, the job, its pages, and the first messages of them. */
const deaths = [1, 2, 3, 4, 5, 6].flatMap((nth) =>
  (["before", "after"] as const).map((moment) => ({ nth, moment })),
);

const { test, world } = engineTest("each", sampled(everyAdapter, "each"));

test("F8: an event goes to each instance of a filter, once, and the job tells how far it is", async () => {
  const engine = await world.engine(orders);
  const count = byDepth({ quick: 257, ci: 1_000, long: 1_000 });
  const [mine, others] = [idsOf("a", count), idsOf("b", 3)];
  await startOrders(world, engine, { customer: "ada", ids: mine });
  await startOrders(world, engine, { customer: "bob", ids: others });
  const job = await engine.each(orders, ada).send({ type: "MARK" });
  expect(await job.progress()).toEqual({ touched: 0, total: count, done: false });
  engine.run();
  expect(await job.done()).toEqual({ touched: count, total: count, done: true });
  await world.settled();
  expect(new Set(await marksOf(engine, mine))).toEqual(new Set([1]));
  expect(await marksOf(engine, others)).toEqual([0, 0, 0]);
  expect(await engine.read(job.id)).toMatchObject({ workflow: "paystate.each@1", status: "done" });
});

test("F8: a commit of a job holds no more of a large event than 4 MiB, or one message", async () => {
  const engine = await world.engine(orders);
  await startOrders(world, engine, { customer: "ada", ids: idsOf("a", 3) });
  engine.run();
  for (const { characters, pages } of [
    { characters: 10, pages: [3] },
    { characters: 2_000_000, pages: [2, 1] },
    { characters: 4_200_000, pages: [1, 1, 1] },
  ]) {
    const job = await engine.each(orders).send({ type: "MARK", by: "x".repeat(characters) });
    await job.done();
    const steps = await engine.history(job.id, { limit: 20 });
    const told = steps.map(({ event }) => ("targets" in event ? (event.targets as unknown[]).length : 0));
    expect(told.filter((count) => count > 0)).toEqual(pages);
  }
});

test("F8: one that has left the filter when its message comes takes nothing, nor does another under its id", async () => {
  const other = await world.engine(orders);
  await startOrders(world, other, { customer: "ada", ids: ["field", "gone", "state", "stays"] });
  // It has no orders: the messages wait.
  const engine = await world.running({ workflows: [] });
  const job = await other.each(orders, { ...ada, state: "open" }).send({ type: "MARK" });
  await engine.settled();
  expect((await job.progress()).touched).toBe(4);
  await other.send(orders, "field", { type: "GIVE", to: "bob" });
  await other.send(orders, "state", { type: "PAY" });
  await other.send(orders, "gone", { type: "CLOSE" });
  other.run();
  await world.settled();
  expect(await other.removeInstance("gone")).toBe("removed");
  expect(await marksOf(other, ["field", "stays", "state"])).toEqual([0, 1, 0]);
});

test("F8: messages of two jobs that wait together: the first takes an instance out of the filter of the second", async () => {
  const other = await world.engine(orders);
  world.awaitsOutside("long");
  // So long that messages which wait for it share a commit.
  await other.start(orders, { id: "long", input: { customer: "ada", note: "x".repeat(20_000) } });
  const engine = await world.running({ workflows: [] });
  for (const type of ["MARK", "PAY", "MARK"] as const) {
    await other.each(orders, { state: "open" }).send({ type });
    await engine.settled();
  }
  other.run();
  await world.settled();
  expect(await other.read(orders, "long")).toMatchObject({ value: "paid", context: { marks: 1 } });
});

test("F8: stop ends each, and what the stopped job has not come to goes on", async () => {
  const engine = await world.engine(orders);
  await startOrders(world, engine, { customer: "ada", ids: ["a", "b"] });
  await startOrders(world, engine, { customer: "bob", ids: ["c"] });
  engine.run();
  await (await engine.each(orders, ada).stop()).done();
  await world.settled();
  const statuses = await Promise.all(["a", "b", "c"].map((id) => engine.read(id)));
  expect(statuses.map((each) => each?.status)).toEqual(["stopped", "stopped", "active"]);
  await engine.stop();
  const job = await engine.each(orders).stop();
  expect(await engine.stopInstance(job.id)).toBe("stopped");
  engine.run();
  await world.settled();
  expect(await job.progress()).toEqual({ touched: 0, total: null, done: true });
  expect((await engine.read("c"))?.status).toBe("active");
});

test("F8: retry makes what fails due now, in instances of the filter alone, ended ones among them", async () => {
  let isDown = true;
  const done: string[] = [];
  const shipped = workflow(
    setup({
      types: { context: {} as { customer: string }, input: {} as { customer: string } },
      actions: { ship: (_, _params: { customer: string }) => {} },
    }).createMachine({
      id: "parcel",
      context: ({ input }) => input,
      initial: "sent",
      states: { sent: { type: "final", entry: { type: "ship", params: ({ context }) => context } } },
    }),
  )({
    version: 1,
    search: { customer: ({ context }) => context.customer },
    effects: {
      ship: async (_, { instance }) => {
        if (isDown) throw new Error("the carrier is away");
        done.push(instance);
        return undefined;
      },
    },
  });
  const engine = await world.running(shipped);
  for (const [id, customer] of Object.entries({ a: "ada", b: "ada", c: "bob" })) {
    await engine.start(shipped, { id, input: { customer } });
  }
  await world.settled();
  await world.pass(3_100);
  isDown = false;
  const job = await engine.each(shipped, ada).retry();
  expect((await job.done()).touched).toBe(2);
  await world.settled();
  expect(done.toSorted()).toEqual(["a", "b"]);
  await world.pass(60_000);
  expect(done.toSorted()).toEqual(["a", "b", "c"]);
});

test.each(sampled(deaths, "deaths of a job"))(
  "F8: killed $moment commit $nth, the job goes on and touches nobody twice",
  async ({ nth, moment }) => {
    const first = await world.engine(orders);
    const mine = idsOf("a", 257);
    await startOrders(world, first, { customer: "ada", ids: mine });
    const process = mortalProcess({ method: "commit", nth, moment });
    const dying = createEngine({
      storage: process.within(await world.open()),
      clock: process.timedBy(world.clock),
      logger: silentLogger,
      workflows: [orders],
    });
    dying.run();
    const asked = dying.each(orders, ada).send({ type: "MARK" }, { id: "job" });
    await Promise.race([asked.then((job) => job.done()), process.died]);
    process.kill();
    const heir = await world.running(orders);
    // Whoever asked asks again: the job may not have begun.
    const job = await heir.each(orders, ada).send({ type: "MARK" }, { id: "job" });
    await world.pass(60_000);
    expect(await job.progress()).toEqual({ touched: 257, total: 257, done: true });
    expect(new Set(await marksOf(heir, mine))).toEqual(new Set([1]));
  },
);

const [anyAdapter] = sampled(everyAdapter, "each types") as readonly [Adapter];

it("F8: a wrong event, state or field does not compile, and is refused with those there are", () =>
  inWorld(anyAdapter, async ({ engine }) => {
    const { each, list } = await engine(orders);
    // @ts-expect-error -- no such event
    await each(orders).send({ type: "SWIM" }, { id: "wrong event" });
    // @ts-expect-error -- no such field
    await expect(each(orders, { where: { colour: "red" } }).send({ type: "PAY" })).rejects.toThrow(
      "each: where.colour: order@1 has no such search field: expected one of customer",
    );
    // @ts-expect-error -- no text
    await expect(each(orders, { where: { customer: 7 } }).stop()).rejects.toThrow(
      "each: where.customer: expected text",
    );
    // @ts-expect-error -- no such state
    await expect(each(orders, { state: "lost" }).retry()).rejects.toThrow(
      'each: order@1 has no state "lost": expected one of open, paid, closed',
    );
    await expect(each(orders).send({ type: "xstate.stop" } as never)).rejects.toThrow("event.type");
    await expect(list({ workflow: "paystate.each" })).resolves.toMatchObject({
      instances: [{ id: "wrong event" }],
    });
  }));

it("F8: what is no event begins no job: each instance would refuse it again and again", () =>
  inWorld(anyAdapter, async (world) => {
    const engine = await world.engine(orders);
    await startOrders(world, engine, { customer: "ada", ids: ["a"] });
    for (const event of [undefined, null, "MARK", ["MARK"], { typ: "MARK" }, { type: "" }, { type: 5 }]) {
      await expect(engine.each(orders).send(event as never)).rejects.toThrow(
        "each: event.type: expected the name of an event",
      );
    }
    expect((await engine.list({ workflow: "paystate.each" })).instances).toEqual([]);
  }));

it("F8: waiting for a job that somebody has removed ends", () =>
  inWorld(anyAdapter, async (world) => {
    const engine = await world.engine(orders);
    await startOrders(world, engine, { customer: "ada", ids: ["a"] });
    engine.run();
    const job = await engine.each(orders).send({ type: "MARK" });
    await job.done();
    await world.settled();
    expect(await engine.removeInstance(job.id)).toBe("removed");
    await expect(job.done()).rejects.toThrow(`there is no job ${job.id}`);
  }));

it("F8: a workflow of the host's own cannot be called as the engine's are", async () => {
  const own = workflow(setup({}).createMachine({ id: "paystate.each" }))({ version: 1 });
  const storage = await sqliteStorage(":memory:");
  expect(() => createEngine({ storage, workflows: [own] })).toThrow(
    "workflows.0: paystate.each@1: names that begin with paystate. are the engine's own",
  );
});
