/** Lays out a chart for a page. ELK computes the places, and has to be installed. */
import type { ElkExtendedEdge, ElkLabel, ElkNode } from "elkjs/lib/elk.bundled.js";
import { LayoutWorker } from "./layout-worker.ts";
import type { ChartState, ChartTransition, ReadChart } from "./read-chart.ts";
import { CHARACTER, LINE, NAME_LINE, NAME_CHARACTER, PADDING, wrapped } from "./text-size.ts";

/** A place on the page, in pixels from its top left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A rectangle on the page. */
export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** A state with its place. `start` is where the dot of the state that is entered first stands. */
export interface StateLayout extends Box {
  readonly state: ChartState;
  readonly lines: readonly string[];
  readonly depth: number;
}

/** A line from state to state, for one transition or for several with the same ends. */
export interface EdgeLayout {
  readonly from: string;
  readonly to: string;
  /** The stored types of events that take this transition. Empty for the arrow from a dot. */
  readonly events: readonly string[];
  readonly points: readonly Point[];
  readonly label: (Box & { readonly lines: readonly string[] }) | null;
}

/** A chart that can be drawn. */
export interface ChartLayout {
  readonly chart: ReadChart;
  readonly width: number;
  readonly height: number;
  /** Outer states first. */
  readonly states: readonly StateLayout[];
  readonly edges: readonly EdgeLayout[];
  /** The dots in front of the states that are entered first. */
  readonly dots: readonly Point[];
}

/** The width that a chart should not exceed, so that its text is read without scrolling on a small laptop. */
const WANTED_WIDTH = 1_240;

/**
 * Lays one chart out.
 * @throws LayoutMissingError when elkjs is not installed.
 */
export async function layOutChart(chart: ReadChart): Promise<ChartLayout> {
  const thread = new LayoutWorker();
  try {
    return await layOutIn(thread, chart);
  } finally {
    await thread.end();
  }
}

/** The first way that fits a page, or else the narrowest. */
export async function layOutIn(thread: Pick<LayoutWorker, "layOut">, chart: ReadChart): Promise<ChartLayout> {
  let narrowest: ChartLayout | null = null;
  for (const way of WAYS) {
    const page = await thread.layOut(graphOf(chart, way));
    // One way may be beyond ELK where another is not.
    if (page === null) continue;
    const drawn = placed(chart, page);
    if (drawn.width <= WANTED_WIDTH) return drawn;
    if (narrowest === null || drawn.width < narrowest.width) narrowest = drawn;
  }
  if (narrowest === null) throw new Error(`the chart "${chart.name}" cannot be laid out`);
  return narrowest;
}

/** A way to lay a chart out. */
interface Way {
  /** The lines that run upward: those that lead back to where a walk came from, or as few as possible. */
  readonly cycleBreaking: "DEPTH_FIRST" | "GREEDY";
  /** The most letters in a line of a label. */
  readonly lineLength: number;
  /**
   * The layer of a state: as high as its lines allow, or chosen for short lines. The first way is narrower when many
   * lines lead to one state.
   */
  readonly layering: "LONGEST_PATH_SOURCE" | "NETWORK_SIMPLEX";
}

const WAYS: readonly Way[] = [
  { cycleBreaking: "DEPTH_FIRST", lineLength: 30, layering: "NETWORK_SIMPLEX" },
  { cycleBreaking: "GREEDY", lineLength: 16, layering: "NETWORK_SIMPLEX" },
  { cycleBreaking: "DEPTH_FIRST", lineLength: 16, layering: "LONGEST_PATH_SOURCE" },
];

const ROOT_OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "DOWN",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.json.shapeCoords": "ROOT",
  "elk.json.edgeCoords": "ROOT",
  "elk.edgeLabels.inline": "false",
  "elk.spacing.nodeNode": "20",
  "elk.spacing.edgeNode": "14",
  "elk.spacing.edgeEdge": "10",
  "elk.spacing.edgeLabel": "4",
  "elk.layered.spacing.nodeNodeBetweenLayers": "34",
  "elk.layered.spacing.edgeNodeBetweenLayers": "14",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.edgeRouting": "ORTHOGONAL",
};

const DOT = 10;
const DOT_OF = "dot of ";

function graphOf(chart: ReadChart, { cycleBreaking, lineLength, layering }: Way): ElkNode {
  const layoutOptions = {
    ...ROOT_OPTIONS,
    "elk.layered.cycleBreaking.strategy": cycleBreaking,
    "elk.layered.layering.strategy": layering,
  };
  return {
    id: "page",
    layoutOptions: { ...layoutOptions, "elk.padding": "[top=8,left=8,bottom=8,right=8]" },
    children: [nodeOf(chart.root, layoutOptions)],
    edges: [
      ...initialEdges(chart.root),
      ...[...bundled(chart.transitions)].map(([id, transitions]): ElkExtendedEdge => {
        const [{ from, to }] = transitions;
        const lines = transitions.flatMap(({ label }) => wrapped(label, lineLength));
        const width = Math.max(...lines.map((line) => line.length)) * CHARACTER + 8;
        const label = { text: lines.join("\n"), width, height: lines.length * LINE + 2 };
        return { id, sources: [from], targets: [to], labels: [label] };
      }),
    ],
  };
}

/** Transitions with the same ends are one line with several labels: two states are rarely joined by fewer than two. */
function bundled(
  transitions: readonly ChartTransition[],
): Map<string, [ChartTransition, ...ChartTransition[]]> {
  const bundles = new Map<string, [ChartTransition, ...ChartTransition[]]>();
  for (const transition of transitions) {
    const id = `${transition.from} → ${transition.to}`;
    const bundle = bundles.get(id);
    if (bundle === undefined) bundles.set(id, [transition]);
    else bundle.push(transition);
  }
  return bundles;
}

const NOTE_LENGTH = 40;

const linesOf = ({ notes }: ChartState): string[] => notes.flatMap((note) => wrapped(note, NOTE_LENGTH));

function nodeOf(state: ChartState, layoutOptions: Readonly<Record<string, string>>): ElkNode {
  const lines = linesOf(state);
  const width =
    Math.max(state.name.length * NAME_CHARACTER, ...lines.map((line) => line.length * CHARACTER)) +
    2 * PADDING;
  const head = PADDING + NAME_LINE + lines.length * LINE;
  if (state.states.length === 0) return { id: state.id, width: Math.max(width, 70), height: head + PADDING };
  const dot: ElkNode[] = state.initial === null ? [] : [{ id: DOT_OF + state.id, width: DOT, height: DOT }];
  return {
    id: state.id,
    layoutOptions: {
      ...layoutOptions,
      "elk.padding": `[top=${head + 14},left=16,bottom=16,right=16]`,
      "elk.nodeSize.constraints": "MINIMUM_SIZE",
      "elk.nodeSize.minimum": `(${width}, ${head + 30})`,
    },
    children: [...dot, ...state.states.map((child) => nodeOf(child, layoutOptions))],
  };
}

function initialEdges(state: ChartState): ElkExtendedEdge[] {
  const inner = state.states.flatMap(initialEdges);
  if (state.initial === null) return inner;
  return [{ id: `into ${state.id}`, sources: [DOT_OF + state.id], targets: [state.initial] }, ...inner];
}

function placed(chart: ReadChart, page: ElkNode): ChartLayout {
  const boxes = new Map<string, ElkNode>();
  collect(page, boxes);
  const transitions = bundled(chart.transitions);
  const place = (state: ChartState, depth: number): StateLayout[] => [
    { state, depth, lines: linesOf(state), ...boxOf(boxes.get(state.id)) },
    ...state.states.flatMap((child) => place(child, depth + 1)),
  ];
  return {
    chart,
    width: Math.ceil(page.width ?? 0),
    height: Math.ceil(page.height ?? 0),
    states: place(chart.root, 0),
    edges: edgesIn(page).map((edge) => ({
      from: edge.sources[0] ?? "",
      to: edge.targets[0] ?? "",
      events: (transitions.get(edge.id) ?? []).map(({ event }) => event),
      points: pointsOf(edge),
      label: labelOf(edge.labels?.[0]),
    })),
    dots: [...boxes.values()]
      .filter(({ id }) => id.startsWith(DOT_OF))
      .map((dot) => ({ x: (dot.x ?? 0) + DOT / 2, y: (dot.y ?? 0) + DOT / 2 })),
  };
}

function collect(node: ElkNode, boxes: Map<string, ElkNode>): void {
  boxes.set(node.id, node);
  for (const child of node.children ?? []) collect(child, boxes);
}

function edgesIn(node: ElkNode): ElkExtendedEdge[] {
  return [...(node.edges ?? []), ...(node.children ?? []).flatMap(edgesIn)];
}

function boxOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box> = {}): Box {
  return { x, y, width, height };
}

function pointsOf({ sections = [] }: ElkExtendedEdge): Point[] {
  return sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
}

function labelOf(label: ElkLabel | undefined): EdgeLayout["label"] {
  return label === undefined ? null : { ...boxOf(label), lines: (label.text ?? "").split("\n") };
}
