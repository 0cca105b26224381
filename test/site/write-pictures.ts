/** Draws every chart that a page shows in Mermaid, for the site: the same charts, laid out by elkjs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyStateMachine } from "xstate";
import { patterns } from "../../examples/patterns/patterns.ts";
import * as machines from "../../machines/index.ts";
import { mermaidText } from "../../src/inspector/chart/draw-mermaid.ts";
import { standaloneSvg } from "../../src/inspector/chart/draw-svg.ts";
import { layOutChart } from "../../src/inspector/chart/lay-out-chart.ts";
import { readChart } from "../../src/inspector/chart/read-chart.ts";

const charts = [
  ...Object.values(machines).filter((each): each is typeof each & AnyStateMachine => "states" in each),
  ...Object.values(patterns).map(({ flow }) => flow.machine),
].map((machine) => readChart(machine));

const pictures: Record<string, string> = {};
for (const chart of charts) pictures[mermaidText(chart).trim()] = standaloneSvg(await layOutChart(chart));

const folder = join(import.meta.dirname, "node_modules/.cache");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "pictures.json"), JSON.stringify(pictures));
