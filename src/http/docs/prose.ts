/** Descriptions as HTML: paragraphs, and words set as code. Nothing else of Markdown is used in them. */
import { html, type Html } from "../../inspector/html.ts";

/** Text between backticks becomes code. */
export function inline(text: string): readonly Html[] {
  // Every second piece stands between two backticks.
  return text
    .split("`")
    .map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
}

/** A blank line begins a paragraph. */
export function paragraphs(text: string | undefined): readonly Html[] {
  return (text ?? "")
    .split("\n\n")
    .filter((paragraph) => paragraph !== "")
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}
