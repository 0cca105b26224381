/** Draws every diagram that a page shows in Mermaid, for the site: charts, and the picture of the rooms. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyStateMachine } from "xstate";
import { patterns } from "../../examples/patterns/patterns.ts";
import * as machines from "../../machines/index.ts";
import { mermaidText } from "../../src/inspector/chart/draw-mermaid.ts";
import { standaloneSvg } from "../../src/inspector/chart/draw-svg.ts";
import { layOutChart } from "../../src/inspector/chart/lay-out-chart.ts";
import { readChart } from "../../src/inspector/chart/read-chart.ts";
import { flowchartIn, flowchartSvg } from "./flowchart-svg.ts";

const charts = [
  ...Object.values(machines).filter((each): each is typeof each & AnyStateMachine => "states" in each),
  ...Object.values(patterns).map(({ flow }) => flow.machine),
].map((machine) => readChart(machine));

const pictures: Record<string, string> = {};
for (const chart of charts) pictures[mermaidText(chart).trim()] = standaloneSvg(await layOutChart(chart));

const rooms = flowchartIn(readFileSync(join(import.meta.dirname, "../../ARCHITECTURE.md"), "utf8"));
if (rooms !== null) pictures[rooms] = await flowchartSvg(rooms);

const folder = join(import.meta.dirname, "node_modules/.cache");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "pictures.json"), JSON.stringify(pictures));
