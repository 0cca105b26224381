/** Charts are laid out beside: no page waits, the first look at any page begins them all, and each is made once. */
import { expect, test } from "vitest";
import { createMachine } from "xstate";
import { workflow } from "../../src/engine/index.ts";
import { createInspector } from "../../src/inspector.ts";
import { LayoutCache } from "../../src/inspector/chart/layout-cache.ts";
import { readChart } from "../../src/inspector/chart/read-chart.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { viewerOf } from "./viewer.ts";
import { eventually } from "../kit/eventually.ts";

const lamp = (id: string) =>
  createMachine({
    id,
    initial: "off",
    states: { off: { on: { SWITCH: "on" } }, on: { on: { SWITCH: "off" } } },
  });

test("a page is there before its drawing; the list has begun the drawings of all charts", async () => {
  const machines = ["kitchen", "hall"].map(lamp);
  const workflows = machines.map((machine) => workflow(machine)({ version: 1 }));
  const shown = { storage: await sqliteStorage(":memory:"), workflows };
  const { html: get } = viewerOf(createInspector(shown));
  const first = await get("/chart?key=kitchen@1");
  expect(first).toContain("The drawing is being made.");
  expect(first).toContain("SWITCH");
  expect(first).not.toContain("<svg");
  await eventually(async () => expect(await get("/chart?key=kitchen@1")).toContain("<svg"));
  // Nobody has looked at this one yet.
  await eventually(async () => expect(await get("/chart?key=hall@1")).toContain("<svg"));
  expect(await viewerOf(createInspector(shown)).html("/chart?key=hall@1")).toContain("<svg");
});

test("who may not look begins nothing", async () => {
  const machine = lamp("cellar");
  const workflows = [workflow(machine)({ version: 1 })];
  const shown = { storage: await sqliteStorage(":memory:"), workflows };
  const stranger = viewerOf(createInspector({ ...shown, authorize: () => false }));
  expect((await stranger.get()).status).toBe(403);
  await new Promise(setImmediate);
  expect(await viewerOf(createInspector(shown)).html("/chart?key=cellar@1")).toContain("is being made");
});

test("the chart that is looked at comes next, and one beyond the layout does not keep the others", async () => {
  const layouts = new LayoutCache();
  const charts = ["a", "b", "c"].map((id) => ({ source: {}, chart: readChart(lamp(id)) }));
  const [a, b, c] = charts;
  if (a === undefined || b === undefined || c === undefined) throw new Error("there are three");
  const { root, name } = a.chart;
  const broken = {
    source: {},
    chart: { name, root, transitions: [{ from: "a", to: "nowhere", entered: "", event: "X", label: "X" }] },
  };
  layouts.begin([broken, a, b, c]);
  expect(layouts.now(c)).toContain("is being made");
  const order: string[] = [];
  await Promise.all(
    [broken, a, b, c].map(async (each) => {
      const drawing = await layouts.whole(each);
      order.push(typeof drawing === "string" ? "beyond" : drawing.chart.name);
    }),
  );
  expect(order.toSorted()).toEqual(["a", "b", "beyond", "c"]);
  expect(order.indexOf("c")).toBeLessThan(order.indexOf("a"));
  expect(layouts.now(b)).toMatchObject({ chart: b.chart });
});
