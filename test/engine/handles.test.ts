/** Handles of workflows: they read the instances of their chart and version alone, and lead to child machines. */
import { expect, expectTypeOf, it } from "vitest";
import { createMachine, setup } from "xstate";
import { UnknownWorkflow, workflow, type InstanceView, type StateName } from "paystate/engine";
import { statesOf } from "../../src/workflow/state-matches.ts";
import { turns } from "../kit/engine-world.ts";
import { effects, order, orders, type approval, type OrderChart } from "./typed/shop.ts";
import { engineTest } from "../kit/engine-test.ts";

const first = workflow(order)({ version: 1, effects });
const moved = workflow(order)({ version: 2, effects, migrate: { 1: () => ({}) } });

const { test, engine, running, settled, awaitsOutside } = engineTest("handles");

test("a child machine is read and sent to by its own handle, with its own types", async () => {
  const one = await running(orders);
  const approver = orders.child("approver");
  await one.start(orders, { id: "o", input: { card: "4242" } });
  expect((await one.list(approver, { state: "asked" })).instances).toMatchObject([{ id: "o/approver" }]);
  await one.send(approver, "o/approver", { type: "APPROVE", by: "ada" });
  const given = await one.waitFor(approver, "o/approver", "final");
  expect(given.status === "done" && given.output.by).toBe("ada");
  const { context } = await one.waitFor(orders, "o", { state: "shipping.packing" });
  expect(context.receipt).toBe("receipt of 4242");
  await settled();
  awaitsOutside("o");
});

test("an instance of another version is refused, and waited for where it is still to be migrated", async () => {
  const before = await engine(first);
  await before.start(first, { id: "open", input: { card: "1" } });
  await before.start(first, { id: "over", input: { card: "2" } });
  await before.send(first, "over", { type: "CANCEL" });
  const one = await engine(moved);
  await expect(one.read(moved, "open")).rejects.toThrow(UnknownWorkflow);
  expect(await one.read(first, "open")).toMatchObject({ workflow: "order@1" });
  expect(await one.read("open")).toMatchObject({ workflow: "order@1" });
  expect((await one.list(moved)).instances).toEqual([]);
  await expect(one.waitFor(moved, "over", "final")).rejects.toThrow("one of order@1, and not of order@2");
  const cancelled = one.waitFor(moved, "open", { state: "cancelled" });
  await turns(20);
  await one.send(moved, "open", { type: "CANCEL" });
  expect(await cancelled).toMatchObject({ value: "cancelled", context: { card: "1" } });
  await expect(one.waitFor(first, "open", "final")).rejects.toThrow(UnknownWorkflow);
  expect((await one.list(moved, { status: "done" })).instances).toMatchObject([{ id: "open" }]);
  one.run();
  await settled();
});

it("a chart has the child machines that it names, and no others", () => {
  const { child } = orders as { readonly child: (src: string) => unknown };
  expect(() => child("charge")).toThrow('order@2 has no machine "charge" among its actors: it has approver');
});

it("states are paths, and any text where the chart tells none", () => {
  // Exactly these keys compile.
  const named: Readonly<Record<StateName<typeof order>, true>> = {
    asking: true,
    paying: true,
    shipping: true,
    "shipping.packing": true,
    "shipping.packed": true,
    cancelled: true,
  };
  expect(statesOf(order.root)).toEqual(Object.keys(named));
  expectTypeOf<StateName<OrderChart>>().toEqualTypeOf<StateName<typeof order>>();
  const regions = setup({}).createMachine({
    type: "parallel",
    states: { box: { initial: "open", states: { open: {}, past: { type: "history" } } }, bill: {} },
  });
  const ofRegions: Readonly<Record<StateName<typeof regions>, true>> = {
    box: true,
    "box.open": true,
    bill: true,
  };
  expect(statesOf(regions.root)).toEqual(Object.keys(ofRegions));
  const loose = createMachine({ initial: "a", states: { a: {} } });
  expectTypeOf<StateName<typeof loose>>().toEqualTypeOf<string>();
  expectTypeOf<InstanceView<typeof approval>["value"]>().toEqualTypeOf<"asked" | "given">();
  expectTypeOf<InstanceView["context"]>().toEqualTypeOf<Readonly<Record<string, unknown>>>();
});
