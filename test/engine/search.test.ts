/** Search fields: instances are found by texts that each step keeps. */
// modules: search
import assert from "node:assert/strict";
import { expect, it } from "vitest";
import { assign, setup } from "xstate";
import { workflow, type Engine } from "paystate/engine";
import type { EngineStorage } from "../../storage/storage.ts";
import { searchRows } from "../../src/workflow/search-fields.ts";
import { everyAdapter, type Adapter } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";
import { engineTest } from "../kit/engine-test.ts";

interface Order {
  readonly customer: string | null;
  readonly city: string;
}

const chart = setup({
  types: {
    context: {} as Order,
    input: {} as Order,
    events: {} as { type: "GIVE"; to: string | null } | { type: "PAY" } | { type: "SHIP" },
  },
}).createMachine({
  id: "order",
  context: ({ input }) => input,
  initial: "open",
  states: {
    open: { on: { PAY: "paid", SHIP: "over" } },
    paid: { on: { SHIP: "over" } },
    over: { type: "final" },
  },
  on: { GIVE: { actions: assign({ customer: ({ event }) => event.to }) } },
});

const search = {
  customer: ({ context }: { readonly context: Order }) => context.customer,
  city: ({ context }: { readonly context: Order }) => context.city,
};
const orders = workflow(chart)({ version: 1, search });

type AnyEngine = Pick<Engine<never>, "list">;

async function idsOf(page: ReturnType<AnyEngine["list"]>): Promise<readonly string[]> {
  return (await page).instances.map(({ id }) => id);
}

async function rowsOf(storage: EngineStorage, key: string): Promise<readonly string[]> {
  await storage.install([searchRows]);
  const rows = await storage.find({ table: searchRows, index: "found", equals: { workflow: key } });
  return rows.map(({ id }) => id).toSorted();
}

const { test, world, engine, awaitsOutside } = engineTest("search", drawn(everyAdapter, "search"));

test("F9: the list filters by declared fields, one or several, with state and status", async () => {
  awaitsOutside("a", "b", "c", "d");
  const { start, send, list } = await engine(orders);
  await start(orders, { id: "b", input: { customer: "ada", city: "Bern" } });
  await start(orders, { id: "a", input: { customer: "ada", city: "Rome" } });
  await start(orders, { id: "c", input: { customer: "bob", city: "Rome" } });
  await start(orders, { id: "d", input: { customer: null, city: "" } });
  expect(await idsOf(list(orders, { where: { customer: "ada" } }))).toEqual(["a", "b"]);
  expect(await idsOf(list(orders, { where: { city: "Rome", customer: "bob" } }))).toEqual(["c"]);
  expect(await idsOf(list(orders, { where: { city: "" } }))).toEqual(["d"]);
  expect(await idsOf(list(orders, { where: { customer: "null" } }))).toEqual([]);
  expect(await idsOf(list(orders, { where: {} }))).toHaveLength(4);
  await send(orders, "a", { type: "PAY" });
  await send(orders, "b", { type: "SHIP" });
  expect(await idsOf(list(orders, { where: { customer: "ada" }, state: "paid" }))).toEqual(["a"]);
  expect(await idsOf(list(orders, { where: { customer: "ada" }, status: "done" }))).toEqual(["b"]);
});

test("F9: a migrated instance is found by the fields of its new version, a field of a later version among them", async () => {
  awaitsOutside("a", "b");
  const before = await engine(workflow(chart)({ version: 1, search: { customer: search.customer } }));
  const old = workflow(chart)({ version: 1, search: { customer: search.customer } });
  await before.start(old, { id: "a", input: { customer: "ada", city: "Rome" } });
  await before.start(old, { id: "b", input: { customer: "ada", city: "Rome" } });
  const later = workflow(chart)({
    version: 2,
    migrate: { 1: ({ context }) => ({ context: { ...(context as Order), city: "Oslo" } }) },
    search: { ...search, customer: ({ context }) => `${context.customer}!` },
  });
  const { send, list } = await engine(later);
  expect(await idsOf(list(later, { where: { city: "Oslo" } }))).toEqual([]);
  await send(later, "a", { type: "PAY" });
  expect(await idsOf(list(later, { where: { city: "Oslo" } }))).toEqual(["a"]);
  expect(await idsOf(list(later, { where: { customer: "ada!" } }))).toEqual(["a"]);
  expect(await idsOf(before.list(old, { where: { customer: "ada" } }))).toEqual(["b"]);
});

test("F9: a filter that would not find all is refused: a field that a program of the same version does not fill", async () => {
  awaitsOutside("a");
  const first = workflow(chart)({ version: 1, search: { customer: search.customer } });
  await (await engine(first)).start(first, { id: "a", input: { customer: "ada", city: "Rome" } });
  const { list } = await engine(orders);
  expect(await idsOf(list(orders, { where: { customer: "ada" } }))).toEqual(["a"]);
  await expect(list(orders, { where: { city: "Rome" } })).rejects.toThrow(
    /^list: where.city: not every instance of order@1 has it, .*: raise the version and give `migrate`$/,
  );
  const without = workflow(chart)({ version: 1 });
  await (await engine(without)).send(without, "a", { type: "PAY" });
  await expect(list(orders, { where: { customer: "ada" } })).rejects.toThrow("where.customer: not every");
  // The rows that its steps do not fill are gone, and not out of date.
  await expect(list(orders, { state: "paid" })).resolves.toMatchObject({ instances: [{ id: "a" }] });
});

test("F9: the fields go with the instance, whoever removes it, and its id is free for others", async () => {
  world.awaitsOutside("a");
  const one = await world.running({
    workflows: [orders],
    keep: { finished: "1h" }, // modules: retention
  });
  const input = { customer: "ada", city: "Rome" };
  await one.start(orders, { id: "a", input });
  await one.send(orders, "a", { type: "SHIP" });
  expect(await one.removeInstance("a")).toBe("removed");
  await one.start(orders, { id: "a", input });
  await one.start(orders, { id: "b", input }); // modules: retention
  await one.send(orders, "b", { type: "SHIP" }); // modules: retention
  for (let n = 0; n < 99 && (await one.read("b")) !== null; n++) await world.pass(3_600_000); // modules: retention
  expect(await idsOf(one.list(orders, { where: { customer: "ada" } }))).toEqual(["a"]);
  expect(await rowsOf(world.storage, "order@1")).toEqual(["city/a", "customer/a"]);
});

test("F9: a value is text of at most 256 bytes, or null; another refuses its step, which names the field", async () => {
  awaitsOutside("long");
  const { start, send, read, list } = await engine(orders);
  const longest = "ü".repeat(128);
  await start(orders, { id: "long", input: { customer: longest, city: "Rome" } });
  expect(await idsOf(list(orders, { where: { customer: longest } }))).toEqual(["long"]);
  for (const wrong of [`${longest}x`, "a\0b", 7 as never]) {
    await expect(start(orders, { id: "x", input: { customer: wrong, city: "" } })).rejects.toThrow(
      "search.customer cannot be stored: expected null, or text of at most 256 bytes",
    );
    await expect(send(orders, "long", { type: "GIVE", to: wrong })).rejects.toThrow("search.customer");
  }
  const broken = { customer: () => assert.fail("no such field") };
  const throwing = workflow(chart)({ version: 2, search: broken, migrate: { 1: () => ({}) } });
  const other = await engine(throwing);
  await expect(other.start(throwing, { id: "x", input: { customer: "ada", city: "" } })).rejects.toThrow(
    "search.customer cannot be stored: its function threw: no such field",
  );
  expect(await read("x")).toBeNull();
  expect(await read(orders, "long")).toMatchObject({ steps: 1, search: { customer: longest } });
});

const [anyAdapter] = drawn(everyAdapter, "search types") as readonly [Adapter];

it("F9: an unknown field does not compile, and is refused with those there are", () =>
  inWorld(anyAdapter, async ({ engine }) => {
    const bare = workflow(chart)({ version: 2 });
    const { list } = await engine({ workflows: [orders, bare] });
    // @ts-expect-error -- no such field
    await expect(list(orders, { where: { colour: "red" } })).rejects.toThrow(
      "list: where.colour: order@1 has no such search field: expected one of customer, city",
    );
    // @ts-expect-error -- no field at all
    await expect(list(bare, { where: { customer: "ada" } })).rejects.toThrow(
      "order@2 has no such search field: it has none",
    );
    // @ts-expect-error -- no text
    await expect(list(orders, { where: { customer: 7 } })).rejects.toThrow("where.customer: expected text");
  }));

it("F9: a field without a name that a row can have, and more than 16, are refused at registration", () => {
  expect(() => workflow(chart)({ version: 1, search: { "a/b": () => null } })).toThrow(
    "search.a/b: expected a name",
  );
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`f${index}`, () => null]));
  expect(() => workflow(chart)({ version: 1, search: many })).toThrow("search: expected 16 fields at most");
});
