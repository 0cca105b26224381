/** The frame around every page. */
import { html, type Html } from "../html.ts";

/** The content of the page frame. */
export interface PageParts {
  readonly title: string;
  readonly main: Html;
  /** True for a page that never changes: it is not followed. */
  readonly standsStill?: true;
}

/** The paths of the inspector, below where it is mounted. */
export class Links {
  readonly #base: string;

  /** `base` is the path of the list, without a slash at its end. */
  constructor(base: string) {
    this.#base = base;
  }

  list(filters: Readonly<Record<string, string>> = {}): string {
    return addressOf(this.#base, filters);
  }

  /** With `step`: as it stood after that step. */
  instance(id: string, step: number | string | null = null): string {
    return this.file("instance", step === null ? { id } : { id, step: String(step) });
  }

  chart(key: string): string {
    return this.file("chart", { key });
  }

  file(name: string, query: Readonly<Record<string, string>> = {}): string {
    return addressOf(`${this.#base}/${name}`, query);
  }
}

function addressOf(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The id of an instance, which leads to its page. */
export function instanceLink(links: Links, id: string): Html {
  return html`<a href="${links.instance(id)}"><code>${id}</code></a>`;
}

/** A page at one moment. */
interface PageMoment {
  /** Names this state of the page. */
  readonly tag: string;
  /** The present time by the service's clock, which need not be the browser's. */
  readonly now: number;
  /** The sections that have something to show. */
  readonly sections: readonly { readonly title: string; readonly path: string }[];
}

/** A whole document. Nothing in it comes from elsewhere, and nothing in it is script. */
export function page(
  links: Links,
  { title, main, standsStill }: PageParts,
  { tag, now, sections }: PageMoment,
): string {
  const attributes = standsStill === true ? html`data-tag="${tag}"` : html`data-tag="${tag}" data-live=""`;
  const pages: readonly (readonly [name: string, address: string])[] = [
    ["Instances", links.list()],
    ["Timers", links.file("timers")],
    ...sections.map((each) => [each.title, links.file(each.path)] as const),
    ["Charts", links.file("charts")],
    ["Health", links.file("health")],
  ];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="same-origin" />
        <title>${title} · paystate</title>
        <link rel="icon" href="${links.file("icon.svg")}" />
        <link rel="stylesheet" href="${links.file("style.css")}" />
        <script src="${links.file("script.js")}" defer></script>
      </head>
      <body data-base="${links.list()}" data-clock="${now}">
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <a class="brand" href="${links.list()}">paystate <b>inspector</b></a>
          <nav aria-label="Pages">
            ${pages.map(([name, address]) =>
              name === title
                ? html`<a href="${address}" aria-current="page">${name}</a> `
                : html`<a href="${address}">${name}</a> `,
            )}
          </nav>
          <form class="search" action="${links.file("find")}" role="search">
            <input
              id="search"
              name="q"
              required
              aria-label="Find by id, signature, address or reference"
              placeholder="id, signature, address, reference"
              autocomplete="off"
              spellcheck="false"
            /><button>Find</button>
          </form>
          <span id="live" role="status">as it was when loaded</span>
        </header>
        <main id="main" tabindex="-1" ${attributes}>${main}</main>
      </body>
    </html> `.text;
}
