/** A table of a page. It scrolls by itself where the screen is narrow, by keyboard too. */
import { html, type Html, type Part } from "../html.ts";

/** A row, with as many cells as there are headings. */
export interface TableRow {
  /** Names the row, so that a changing page keeps it. */
  readonly key?: string;
  readonly class?: string;
  readonly cells: readonly Part[];
}

/** The content of a table. */
interface TableParts {
  /** The label for screen readers. */
  readonly label: string;
  readonly headings: readonly string[];
  /** The heading of a column whose cells are not broken into lines. */
  readonly brief?: string;
  readonly rows: readonly TableRow[];
  /** Said in place of a table without rows. */
  readonly none?: string;
}

export function table({ label, headings, brief, rows, none }: TableParts): Html {
  if (rows.length === 0 && none !== undefined) return html`<p class="empty">${none}</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => tableRow(row, brief === undefined ? -1 : headings.indexOf(brief)))}
      </tbody>
    </table>
  </div>`;
}

function tableRow({ key, class: name, cells }: TableRow, brief: number): Html {
  const attributes = [
    key === undefined ? null : html` data-key="${key}"`,
    name === undefined ? null : html` class="${name}"`,
  ];
  return html`<tr${attributes}>
    ${cells.map((cell, at) => html`<td${at === brief ? html` class="brief"` : null}>${cell}</td> `)}
  </tr>`;
}
