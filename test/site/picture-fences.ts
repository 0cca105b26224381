/** Diagrams as pictures: a fence of Mermaid becomes the SVG of the same diagram, with no script in the page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { sequenceSvg } from "./sequence-svg.ts";

/** Pictures of charts by their text in Mermaid, as `write-pictures.ts` has drawn them. */
const PICTURES = JSON.parse(
  readFileSync(join(import.meta.dirname, "node_modules/.cache/pictures.json"), "utf8"),
) as Readonly<Record<string, string>>;

/** The picture of a diagram; null for a kind that nothing here draws, whose text stays. */
function pictureOf(text: string): string | null {
  if (text.startsWith("sequenceDiagram")) return sequenceSvg(text);
  const svg = PICTURES[text.trim()];
  if (svg === undefined) return null;
  const [, name = "of the rooms"] = /^%% (.+)/.exec(text) ?? [];
  const bytes = Buffer.from(svg).toString("base64");
  return `<div class="chart"><img alt="The chart ${name}" src="data:image/svg+xml;base64,${bytes}"></div>\n`;
}

/** Draws the diagrams of a page. */
export function pictureFences(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (...given) => {
    const [tokens, index] = given;
    const { info = "", content = "" } = tokens[index] ?? {};
    const picture = info.trim() === "mermaid" ? pictureOf(content) : null;
    return picture ?? fence?.(...given) ?? "";
  };
}
