/** A sequence diagram as SVG: participants, messages and notes, in the colours of the page. */

const LANE = 190;
const ROW = 44;
const TOP = 56;

/** A line of the diagram: a message between two lanes, or a note over one. */
type Row =
  | { readonly from: number; readonly to: number; readonly isAnswer: boolean; readonly text: string }
  | { readonly over: number; readonly text: string };

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

interface Diagram {
  readonly names: readonly string[];
  readonly rows: readonly Row[];
}

function read(source: string): Diagram {
  const keys: string[] = [];
  const names: string[] = [];
  const rows: Row[] = [];
  for (const line of source.split("\n")) {
    const [, key, name] = /^\s*participant (\w+) as (.+)$/.exec(line) ?? [];
    if (key !== undefined && name !== undefined) {
      keys.push(key);
      names.push(name);
    }
    const [, from = "", arrow = "", to = "", text = ""] = /^\s*(\w+)(-?->>)(\w+): (.+)$/.exec(line) ?? [];
    if (text !== "")
      rows.push({ from: keys.indexOf(from), to: keys.indexOf(to), isAnswer: arrow === "-->>", text });
    const [, over = "", note = ""] = /^\s*Note over (\w+): (.+)$/.exec(line) ?? [];
    if (note !== "") rows.push({ over: keys.indexOf(over), text: note });
  }
  return { names, rows };
}

const laneAt = (index: number): number => LANE / 2 + index * LANE;

function drawn(row: Row, index: number): string {
  const y = TOP + 30 + index * ROW;
  const text = escaped(row.text);
  if ("over" in row) return `<text class="note" x="${laneAt(row.over)}" y="${y}">${text}</text>`;
  const [from, to] = [laneAt(row.from), laneAt(row.to)];
  const end = to + (to > from ? -6 : 6);
  const dash = row.isAnswer ? ' stroke-dasharray="5 4"' : "";
  return `<text x="${(from + to) / 2}" y="${y - 6}">${text}</text><line x1="${from}" y1="${y}" x2="${end}" y2="${y}"${dash} marker-end="url(#arrow)"/>`;
}

/** Draws the source of a Mermaid sequence diagram. Text that Mermaid has and this does not know is left out. */
export function sequenceSvg(source: string): string {
  const { names, rows } = read(source);
  const [width, height] = [names.length * LANE, TOP + 30 + rows.length * ROW];
  const lanes = names.map((name, index) => {
    const x = laneAt(index);
    return `<line class="lane" x1="${x}" y1="${TOP - 16}" x2="${x}" y2="${height}"/><text class="name" x="${x}" y="26">${escaped(name)}</text>`;
  });
  const arrow = `<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>`;
  return `<div class="sequence"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(names.join(", "))}">${arrow}${lanes.join("")}${rows.map(drawn).join("")}</svg></div>\n`;
}
