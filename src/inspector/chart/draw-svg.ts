/** A laid-out chart as plain SVG text, alone or inside a page, with what happened to one instance marked in it. */
import { escaped } from "../html.ts";
import type { ChartLayout, EdgeLayout, StateLayout, Point } from "./lay-out-chart.ts";
import { takenWay, type TakenStep } from "./taken-way.ts";
import { LINE, NAME_LINE, PADDING } from "./text-size.ts";

/** Marks on the chart of an instance. */
interface ChartMarks {
  /** The ids of the active states. */
  readonly active: readonly string[];
  readonly taken: readonly TakenStep[];
}

const NO_MARKS: ChartMarks = { active: [], taken: [] };

/** Styles of a chart. Colours come from the surrounding page; the default is a light page. */
export const CHART_STYLE = `
.chart { --ink: light-dark(#1d2433, #e6e9f0); --soft: light-dark(#5a6478, #9aa4b8); --box: light-dark(#fff, #1b2130);
  --inner: light-dark(#f4f6fa, #151a26); --line: light-dark(#8b95a8, #6c778d); --go: light-dark(#0b6e4f, #4fd1a1);
  --fill: light-dark(#d5f2e6, #12473a); --page: light-dark(#fbfcfe, #10141d);
  font: 11px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; }
.chart text { fill: var(--ink); }
.chart .name { font: 600 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.chart .note { fill: var(--soft); }
.chart .state { fill: var(--box); stroke: var(--line); stroke-width: 1.2; }
.chart .outer { fill: var(--inner); }
.chart .final-line { fill: none; stroke: var(--line); }
.chart .region { stroke-dasharray: 6 4; }
.chart .active { fill: var(--fill); stroke: var(--go); stroke-width: 2.4; }
.chart .outer.active { fill: var(--inner); } .chart .inner.active { fill: var(--box); }
.chart .edge { fill: none; stroke: var(--line); stroke-width: 1.2; }
.chart .edge.taken { stroke: var(--go); stroke-width: 2.4; }
.chart .edge.possible { stroke: var(--go); stroke-dasharray: 6 4; }
.chart .label { fill: var(--soft); paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.chart .label.taken, .chart .label.possible { fill: var(--go); }
.chart .head { fill: var(--line); } .chart .head.taken, .chart .head.possible { fill: var(--go); }
.chart .dot { fill: var(--ink); }
.chart .badge { fill: var(--go); }
.chart .badge-text { fill: var(--page); font-weight: 700; font-size: 10px; text-anchor: middle; }
`;

/** The chart to be put into a page of ours, which has the style. `name` is told to who cannot see it. */
export function chartSvg(layout: ChartLayout, marks: ChartMarks = NO_MARKS): string {
  return svg(layout, marks, "");
}

/** The chart as a file of its own. */
export function standaloneSvg(layout: ChartLayout): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${svg(layout, NO_MARKS, `<style>:root { color-scheme: light dark }${CHART_STYLE}</style>`)}\n`;
}

function svg(layout: ChartLayout, marks: ChartMarks, style: string): string {
  const { chart, width, height, states, edges, dots } = layout;
  const stepsByWay = takenNumbers(layout, marks.taken);
  const drawn = edges.map((edge) => {
    const own = stepsByWay.get(`${edge.from} → ${edge.to}`) ?? [];
    return { edge, numbers: own, mark: markOf(edge, own, marks) };
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(`Chart ${chart.name}`)}">`,
    style,
    ...states.map((placed) => box(placed, marks)),
    ...drawn.map(({ edge, mark }) => path(edge, mark)),
    ...dots.map(({ x, y }) => `<circle class="dot" cx="${round(x)}" cy="${round(y)}" r="5"/>`),
    ...drawn.map(({ edge, mark }) => label(edge, mark)),
    ...states.map((placed) => heading(placed)),
    ...drawn.flatMap(({ edge, numbers }) => badge(edge, numbers)),
    "</svg>",
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function box({ state, depth, ...placed }: StateLayout, { active }: ChartMarks): string {
  const { x, y, width, height } = placed;
  const classes = ["state"];
  if (state.states.length > 0) classes.push(depth % 2 === 0 ? "outer" : "inner");
  if (state.isRegion) classes.push("region");
  // The whole chart is active for as long as it lives; only what is in it tells anything.
  if (depth > 0 && active.includes(state.id)) classes.push("active");
  const rect = (inset: number, name: string): string =>
    `<rect class="${name}" x="${round(x + inset)}" y="${round(y + inset)}" width="${round(width - 2 * inset)}" height="${round(height - 2 * inset)}" rx="${8 - inset}"/>`;
  return state.kind === "final"
    ? `${rect(0, classes.join(" "))}${rect(3.5, "final-line")}`
    : rect(0, classes.join(" "));
}

const KIND_WORDS = { parallel: "all at once", history: "H" } as const;

function heading({ state, lines, x, y }: StateLayout): string {
  const baseline = y + PADDING + 12;
  const word = state.kind === "parallel" || state.kind === "history" ? KIND_WORDS[state.kind] : "";
  const kind = word === "" ? "" : `<tspan class="note"> · ${word}</tspan>`;
  const notes = lines.map(
    (line, index) =>
      `<text class="note" x="${round(x + PADDING)}" y="${round(baseline + NAME_LINE - 3 + index * LINE)}">${escaped(line)}</text>`,
  );
  return `<text class="name" x="${round(x + PADDING)}" y="${round(baseline)}">${escaped(state.name)}${kind}</text>${notes.join("")}`;
}

type Mark = "" | "taken" | "possible";

/** The numbers of the steps that took each line, by the line's ends. */
function takenNumbers({ chart }: ChartLayout, taken: readonly TakenStep[]): Map<string, number[]> {
  const numbers = new Map<string, number[]>();
  for (const step of taken) {
    for (const { from, to } of takenWay(chart.transitions, step)) {
      const way = `${from} → ${to}`;
      numbers.set(way, [...(numbers.get(way) ?? []), step.number]);
    }
  }
  return numbers;
}

/** Whether an instance has taken this way, or may take it next. */
function markOf({ from, events }: EdgeLayout, numbers: readonly number[], { active }: ChartMarks): Mark {
  if (numbers.length > 0) return "taken";
  return events.length > 0 && active.includes(from) ? "possible" : "";
}

function path({ points }: EdgeLayout, mark: Mark): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const at = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
  const line = `M${at(first)}${rest.map((point) => `L${at(point)}`).join("")}`;
  return `<path class="${`edge ${mark}`.trim()}" d="${line}"/>${arrowHead(points, mark)}`;
}

function arrowHead(points: readonly Point[], mark: Mark): string {
  const [tip, before] = points.toReversed();
  if (tip === undefined || before === undefined) return "";
  const angle = Math.atan2(tip.y - before.y, tip.x - before.x);
  const corner = (turn: number): string =>
    `${round(tip.x - 8 * Math.cos(angle + turn))},${round(tip.y - 8 * Math.sin(angle + turn))}`;
  return `<polygon class="${`head ${mark}`.trim()}" points="${round(tip.x)},${round(tip.y)} ${corner(0.42)} ${corner(-0.42)}"/>`;
}

function label({ label: placed }: EdgeLayout, mark: Mark): string {
  if (placed === null) return "";
  return placed.lines
    .map(
      (line, index) =>
        `<text class="${`label ${mark}`.trim()}" x="${round(placed.x + 4)}" y="${round(placed.y + 11 + index * LINE)}">${escaped(line)}</text>`,
    )
    .join("");
}

/** The widest badge that fits between a line and its label, in pixels. */
const MAX_BADGE_BESIDE = 24;

/** The numbers of the steps that took this way, near its end. */
function badge({ points, label: placed }: EdgeLayout, numbers: readonly number[]): string[] {
  const [tip] = points.toReversed();
  if (numbers.length === 0 || tip === undefined) return [];
  const text = numbers.length > 3 ? `${numbers.slice(0, 2).join(",")}…${numbers.at(-1)}` : numbers.join(",");
  const width = Math.max(16, text.length * 6.5 + 8);
  const { x, y } = placed === null ? tip : badgePlace(placed, width);
  return [
    `<rect class="badge" x="${round(x - width / 2)}" y="${round(y - 8)}" width="${round(width)}" height="16" rx="8"/>`,
    `<text class="badge-text" x="${round(x)}" y="${round(y + 3.5)}">${escaped(text)}</text>`,
  ];
}

/** Left of the label; above the label when a wide badge would cover its neighbours. */
function badgePlace({ x, y }: Point, width: number): Point {
  return width <= MAX_BADGE_BESIDE ? { x: x - width / 2 - 2, y: y + 8 } : { x: x + width / 2 + 4, y: y - 9 };
}

/** To a tenth of a pixel. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
