/** The frame around every page. */
import { html, type Html } from "../html.ts";

/** What stands in the frame. */
export interface PageParts {
  readonly title: string;
  readonly main: Html;
}

/** The paths of the inspector, below where it is mounted. */
export class Links {
  readonly #base: string;

  /** `base` is the path of the list, without a slash at its end. */
  constructor(base: string) {
    this.#base = base;
  }

  list(filters: Readonly<Record<string, string>> = {}): string {
    const query = new URLSearchParams(filters).toString();
    return query === "" ? this.#base : `${this.#base}?${query}`;
  }

  instance(id: string): string {
    return `${this.#base}/instance?${new URLSearchParams({ id }).toString()}`;
  }

  chart(key: string): string {
    return `${this.#base}/chart?${new URLSearchParams({ key }).toString()}`;
  }

  charts(): string {
    return `${this.#base}/charts`;
  }

  health(): string {
    return `${this.#base}/health`;
  }

  file(name: string): string {
    return `${this.#base}/${name}`;
  }
}

/** A whole document. Nothing in it comes from elsewhere, and nothing in it is script. */
export function page(links: Links, { title, main }: PageParts): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title} · paystate</title>
        <link rel="icon" href="${links.file("icon.svg")}" />
        <link rel="stylesheet" href="${links.file("style.css")}" />
        <script src="${links.file("script.js")}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <a class="brand" href="${links.list()}">paystate <b>inspector</b></a>
          <nav aria-label="Pages">
            <a href="${links.list()}">Instances</a><a href="${links.charts()}">Charts</a
            ><a href="${links.health()}">Health</a>
          </nav>
          <span id="live" role="status">shown as of loading</span>
        </header>
        <main id="main" tabindex="-1">${main}</main>
      </body>
    </html> `.text;
}
