/** Every chart can be drawn: whole, legible, and nothing on top of anything else. */
import { describe, expect, test } from "vitest";
import { sampled } from "../kit/thorough.ts";
import { setup } from "xstate";
import { order } from "../../machines/order.ts";
import { transfer } from "../../machines/transfer.ts";
import { walletTransfer } from "../../machines/wallet-transfer.ts";
import { webhookDelivery } from "../../machines/webhook-delivery.ts";
import { chartSvg, standaloneSvg } from "../../src/inspector/chart/draw-svg.ts";
import { indentedList } from "../../src/cli/instances/tell-instance.ts";
import { layOutChart, type Box, type ChartLayout } from "../../src/inspector/chart/lay-out-chart.ts";
import { activeStates, readChart, statesOf, type ReadChart } from "../../src/inspector/chart/read-chart.ts";
import { takenWay } from "../../src/inspector/chart/taken-way.ts";
import { durationWords } from "../../src/inspector/chart/words.ts";
import { escaped } from "../../src/inspector/html.ts";
import { parcel } from "./parcel.ts";

const ALL = {
  parcel,
  order,
  transfer,
  walletTransfer,
  webhookDelivery,
};

/** A large chart takes seconds, so each is laid out once. */
const laidOut = new Map<string, Promise<ChartLayout>>();

function layOutOnce(chart: ReadChart): Promise<ChartLayout> {
  const found = laidOut.get(chart.name) ?? layOutChart(chart);
  laidOut.set(chart.name, found);
  return found;
}

/** The open elements at the end of a text; throws where one is closed that is not open. */
function stillOpen(xml: string): string[] {
  const open: string[] = [];
  const rest = xml.replace(/<\?xml[^>]*\?>/, "").replace(/<style>[^<]*<\/style>/, "");
  for (const [tag, end, name = "", own] of rest.matchAll(
    /<(\/?)([a-z]+)(?:\s+[\w:-]+="[^"<]*")*\s*(\/?)>/g,
  )) {
    if (own === "/") continue;
    if (end === "") open.push(name);
    else if (open.pop() !== name) throw new Error(`${tag} closes nothing`);
  }
  const outside = rest.replace(/<\/?[a-z]+(?:\s+[\w:-]+="[^"<]*")*\s*\/?>/g, "");
  if (/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/.test(outside)) throw new Error(`a sign stands bare in ${outside}`);
  return open;
}

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const within = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width + 0.01 &&
  inner.y + inner.height <= outer.y + outer.height + 0.01;

function misplaced({ states, width, height }: ChartLayout): string[] {
  const page: Box = { x: 0, y: 0, width, height };
  const byId = new Map(states.map((placed) => [placed.state.id, placed]));
  return states.flatMap(({ state, ...box }) => {
    const inside = state.states.flatMap(({ id }) => byId.get(id) ?? []);
    return [
      ...(within(box, page) ? [] : [`${state.id} leaves the page`]),
      ...inside.filter((each) => !within(each, box)).map((each) => `${each.state.id} leaves ${state.id}`),
      ...inside.flatMap((each, index) =>
        inside
          .slice(index + 1)
          .filter((other) => overlap(each, other))
          .map((other) => `${each.state.id} lies on ${other.state.id}`),
      ),
    ];
  });
}

describe.each(sampled(Object.entries(ALL), "drawn charts"))("the chart %s", (_, machine) => {
  const chart = readChart(machine);

  test("is drawn as well-formed SVG with every state's name, no box on another and no text beside its box", async () => {
    const layout = await layOutChart(chart);
    const svg = standaloneSvg(layout);
    expect(stillOpen(svg)).toEqual([]);
    for (const { name } of statesOf(chart.root)) expect(svg).toContain(`>${escaped(name)}<`);
    expect(misplaced(layout)).toEqual([]);
    expect(layout.edges.filter(({ points }) => points.length < 2)).toEqual([]);
    const labels = layout.edges.flatMap(({ label }) => label ?? []);
    expect(labels.filter((label) => !within(label, { x: 0, y: 0, ...layout }))).toEqual([]);
  });

  test("is an indented list with every state and every transition where nothing lays it out", () => {
    const list = indentedList(chart);
    for (const { name } of statesOf(chart.root)) expect(list).toMatch(new RegExp(`^ *- ${name}\\b`, "m"));
    for (const { label } of chart.transitions) expect(list).toContain(label);
  });
});

test("a drawing tells delays in words, guards, effects, invocations, history and what happens all at once", async () => {
  const svg = chartSvg(await layOutOnce(readChart(parcel)));
  for (const words of [
    "after 15 min",
    "after 1 h 30 min / remind",
    "travelling is done [isHeavy]",
    "invoke weigh as scale",
    "entry / label(red)",
    "deep history",
    "· all at once",
    "on ASK",
  ]) {
    expect(svg).toContain(words);
  }
});

test("a drawing fills the active states, numbers the steps taken and dashes what may come next", async () => {
  const chart = readChart(parcel);
  const states = (value: unknown) => activeStates(chart, value);
  const layout = await layOutOnce(chart);
  const svg = chartSvg(layout, {
    active: states("paused"),
    taken: [
      { number: 1, event: "$started", before: [], after: states({ packing: "weighing" }) },
      { number: 2, event: "PAUSE", before: states({ packing: "weighing" }), after: states("paused") },
    ],
  });
  expect(svg.match(/class="state active"/g)).toHaveLength(1);
  expect(svg.match(/class="badge-text"[^>]*>2</g)).toHaveLength(1);
  expect(svg.match(/class="edge taken"/g)).toHaveLength(1);
  expect(svg.match(/class="edge possible"/g)).toHaveLength(2);
  expect(chartSvg(layout)).not.toMatch(/class="(?:badge|edge taken|edge possible|state active)"/);
});

test("the way of a step is told apart by its end, goes on through `always`, and leads back through history", () => {
  const { transitions, ...chart } = readChart(parcel);
  const states = (value: unknown) => activeStates({ transitions, ...chart }, value);
  const way = (event: string, before: unknown, after: unknown): string[] =>
    takenWay(transitions, { number: 9, event, before: states(before), after: states(after) }).map(
      ({ from, to }) => `${from} ${to}`,
    );
  const done = "xstate.done.state.parcel.travelling";
  const arrived = { travelling: { papers: "signed", wheels: "scanned" } };
  expect(way("RESUME", "paused", { packing: "labelling" })).toEqual(["parcel.paused parcel.packing.last"]);
  expect(way(done, arrived, "delivered")).toEqual([
    "parcel.travelling parcel.lifted",
    "parcel.lifted parcel.delivered",
  ]);
  expect(way("PAUSE", "paused", { packing: "labelling" })).toEqual([]);
});

test("a step whose event was answered where it stood took the way without an event that followed", () => {
  const machine = setup({ guards: { isFull: () => true } }).createMachine({
    initial: "filling",
    on: { DROP: { actions: [] } },
    states: { filling: { always: { guard: "isFull", target: "full" } }, full: {} },
  });
  const { transitions, ...chart } = readChart(machine);
  const [before, after] = ["filling", "full"].map((value) => activeStates({ transitions, ...chart }, value));
  if (before === undefined || after === undefined) throw new Error("there are two");
  expect(takenWay(transitions, { number: 2, event: "DROP", before, after })).toMatchObject([{ event: "" }]);
  expect(takenWay(transitions, { number: 2, event: "DROP", before, after: before })).toEqual([]);
});

test("names that look like markup are shown as they are and stay text", async () => {
  const hostile = `</svg><script>alert("1")</script>&amp;'`;
  const machine = setup({ types: { events: {} as { type: string } } }).createMachine({
    id: hostile,
    initial: hostile,
    states: {
      [hostile]: { on: { [hostile]: { actions: [] } } },
      other: { on: { "<b>": "third" } },
      third: {},
    },
  });
  const svg = standaloneSvg(await layOutChart(readChart(machine)));
  expect(stillOpen(svg)).toEqual([]);
  expect(svg).not.toContain("<script");
  expect(svg).toContain(escaped(hostile));
});

test("characters that XML does not know are replaced", () => {
  expect(escaped("a\u0000\u001b\ud800b\ufffe💸")).toBe("a\ufffd\ufffd\ufffdb\ufffd💸");
});

test.each([
  [0, "0 s"],
  [1, "1 ms"],
  [999, "999 ms"],
  [1_500, "1 s 500 ms"],
  [900_000, "15 min"],
  [5_400_000, "1 h 30 min"],
  [86_400_000, "1 d"],
  [90_061_000, "1 d 1 h"],
  [86_405_000, "1 d"],
])("%i ms are %s", (ms, words) => {
  expect(durationWords(ms)).toBe(words);
});
