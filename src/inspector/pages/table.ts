/** A table of a page. It scrolls by itself where the screen is narrow, by keyboard too. */
import { html, type Html } from "../html.ts";

/** The content of a table. */
interface TableParts {
  /** The label for screen readers. */
  readonly label: string;
  readonly headings: readonly string[];
  /** Rows with as many cells as there are headings. */
  readonly rows: readonly Html[];
}

export function table({ label, headings, rows }: TableParts): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
