/** A flowchart in Mermaid, such as that of the rooms, as SVG: boxes in layers, an arrow for each import, laid out by ELK. */
import ELK from "elkjs/lib/elk.bundled.js";

const HEIGHT = 34;
const CHARACTER = 8;
const PADDING = 24;

/** A box by its key in the diagram, and an arrow between two keys. */
interface Flowchart {
  readonly boxes: ReadonlyMap<string, string>;
  readonly arrows: readonly (readonly [string, string])[];
}

function read(source: string): Flowchart {
  const boxes = new Map<string, string>();
  const arrows: [string, string][] = [];
  for (const line of source.split("\n")) {
    const [, key, name] = /^(\w+)\["(.+)"\]$/.exec(line.trim()) ?? [];
    if (key !== undefined && name !== undefined) boxes.set(key, name);
    const [, from, to] = /^(\w+)-->(\w+)$/.exec(line.trim()) ?? [];
    if (from !== undefined && to !== undefined) arrows.push([from, to]);
  }
  return { boxes, arrows };
}

/** The first fenced flowchart of a page; null without one. */
export function flowchartIn(page: string): string | null {
  return /^```mermaid\n(flowchart [\s\S]*?)^```$/m.exec(page)?.[1]?.trim() ?? null;
}

/** Draws a flowchart of boxes and plain arrows. */
export async function flowchartSvg(source: string): Promise<string> {
  const { boxes, arrows } = read(source);
  const laid = await new ELK().layout({
    id: "rooms",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.spacing.nodeNode": "18",
      "elk.layered.spacing.nodeNodeBetweenLayers": "60",
    },
    children: [...boxes].map(([id, name]) => ({
      id,
      width: name.length * CHARACTER + PADDING,
      height: HEIGHT,
    })),
    edges: arrows.map(([from, to], index) => ({ id: `e${index}`, sources: [from], targets: [to] })),
  });
  const { width = 0, height = 0, children = [], edges = [] } = laid;
  const lines = edges.flatMap(({ sections = [] }) =>
    sections.map(({ startPoint, bendPoints = [], endPoint }) => {
      const points = [startPoint, ...bendPoints, endPoint].map(({ x, y }) => `${x},${y}`);
      return `<polyline points="${points.join(" ")}" fill="none" stroke="#8a93a0" marker-end="url(#tip)"/>`;
    }),
  );
  const rooms = children.map(({ id, x = 0, y = 0, width: wide = 0 }) => {
    const place = `x="${x + wide / 2}" y="${y + HEIGHT / 2 + 5}"`;
    return (
      `<rect x="${x}" y="${y}" width="${wide}" height="${HEIGHT}" rx="6" fill="#eef2f7" stroke="#5b6b7f"/>` +
      `<text ${place} text-anchor="middle" fill="#1c2733">${boxes.get(id) ?? id}</text>`
    );
  });
  const tip = `<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 ${width + 16} ${height + 16}" font-family="sans-serif" font-size="14">`,
    `<defs>${tip}<path d="M0 0 8 4 0 8z" fill="#8a93a0"/></marker></defs>`,
    ...lines,
    ...rooms,
    "</svg>",
  ].join("");
}
