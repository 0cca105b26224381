/** A page with its status, and the page for unknown paths. */
import { html } from "./html.ts";
import type { Links, PageParts } from "./pages/page.ts";

/** The page at a path. */
export interface FoundPage {
  readonly status: number;
  readonly parts: PageParts;
  /** The address of a redirect. */
  readonly to?: string;
}

/** A page that is there. */
export function present(parts: PageParts): FoundPage {
  return { status: 200, parts };
}

/** A sentence instead of a page. */
export function absent(links: Links, sentence: string): FoundPage {
  const main = html`<h1>Not found</h1>
    <p class="empty">${sentence} <a href="${links.list()}">All instances</a></p>`;
  return { status: 404, parts: { title: "Not found", main } };
}
