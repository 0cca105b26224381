/** The inspector as a handler of requests: finds the page, and sends it with headers that let nothing else in. */
import { createHash } from "node:crypto";
import type { Inspected } from "../engine/inspected.ts";
import { redactionOf } from "../redacting-log.ts";
import type { Clock, Logger } from "../runtime.ts";
import { refusalOf, type Authorize, type Viewer } from "./admit-viewer.ts";
import { Charts } from "./charts.ts";
import { html } from "./html.ts";
import { chartPage, chartsPage } from "./pages/chart-pages.ts";
import { healthPage } from "./pages/health-page.ts";
import { instancePage } from "./pages/instance-page.ts";
import { listPage } from "./pages/list-page.ts";
import { Links, page, type PageParts } from "./pages/page.ts";
import { SCRIPT } from "./pages/script.ts";
import { ICON, STYLE } from "./pages/style.ts";
import { InstanceReads, type ListQuery } from "./read-instances.ts";
import type { Redact } from "./show-values.ts";

/** Where the inspector stands below a handler. */
export const INSPECTOR_PATH = "/_inspector";

/** What the inspector works with. */
export interface InspectorParts {
  readonly inspected: Inspected;
  /** Null admits this machine alone, and no viewer in production. */
  readonly authorize: Authorize | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A request with where the inspector is mounted: the path of its list. */
export interface InspectorRequest extends Viewer {
  readonly base: string;
}

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
} as const;

const FILES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  "/style.css": ["text/css; charset=utf-8", STYLE],
  "/script.js": ["text/javascript; charset=utf-8", SCRIPT],
  "/icon.svg": ["image/svg+xml", ICON],
};

/** A page with its status. */
interface Found {
  readonly status: number;
  readonly parts: PageParts;
}

export class Inspector {
  readonly #parts: InspectorParts;
  readonly #charts: Charts;
  readonly #reads: InstanceReads;
  readonly #redact: Redact;

  constructor(parts: InspectorParts) {
    this.#parts = parts;
    this.#charts = new Charts(parts.inspected.workflows);
    this.#reads = new InstanceReads(parts.inspected, this.#charts);
    this.#redact = redactionOf(parts.log);
  }

  /** Answers one request. Never rejects. */
  async respond(asked: InspectorRequest): Promise<Response> {
    const { request } = asked;
    const refusal = await refusalOf(asked, this.#parts.inspected, this.#parts.authorize);
    if (refusal !== null) return plain(403, refusal);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return plain(405, "The inspector only shows: GET and HEAD.", { allow: "GET, HEAD" });
    }
    const url = new URL(request.url);
    const path = url.pathname.slice(url.pathname.lastIndexOf(INSPECTOR_PATH) + INSPECTOR_PATH.length);
    const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
    if (file !== undefined) {
      return new Response(file[1], { headers: { ...HEADERS, "content-type": file[0] } });
    }
    try {
      const links = new Links(asked.base);
      const { status, parts } = await this.#find(links, path, url.searchParams);
      return this.#page(request, status, page(links, parts));
    } catch (err) {
      this.#parts.log.error({ err }, "the inspector could not show a page");
      return plain(500, "The page could not be made; the log says why.");
    }
  }

  async #find(links: Links, path: string, query: URLSearchParams): Promise<Found> {
    switch (path) {
      case "":
      case "/":
        return { status: 200, parts: await this.#list(links, query) };
      case "/instance":
        return this.#instance(links, query.get("id")?.trim() ?? "");
      case "/charts":
        return { status: 200, parts: chartsPage(links, this.#charts.all()) };
      case "/chart": {
        const known = this.#charts.get(query.get("key") ?? "");
        return known === undefined
          ? absent(links, "No such chart is registered in this process.")
          : { status: 200, parts: await chartPage(links, known) };
      }
      case "/health":
        return { status: 200, parts: healthPage(links, await this.#reads.queue(), this.#redact) };
      default:
        return absent(links, "There is no such page.");
    }
  }

  async #list(links: Links, params: URLSearchParams): Promise<PageParts> {
    const query = listQuery(params);
    const workflows = this.#charts.all().map(({ key }) => key);
    return listPage(links, { list: await this.#reads.list(query), query, workflows, redact: this.#redact });
  }

  async #instance(links: Links, id: string): Promise<Found> {
    const found = await this.#reads.find(id);
    if (found === null) return absent(links, `No instance has the id “${id}”.`);
    const known = this.#charts.get(found.instance.workflow);
    return { status: 200, parts: await instancePage(links, { ...found, known, redact: this.#redact }) };
  }

  #page(request: Request, status: number, text: string): Response {
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
    const headers = {
      ...HEADERS,
      "content-type": "text/html; charset=utf-8",
      etag,
      // What is counted down to is by the service's clock, which need not be the browser's.
      "x-clock": String(this.#parts.clock.now()),
    };
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
    return new Response(text, { status, headers });
  }
}

function absent(links: Links, sentence: string): Found {
  const main = html`<h1>Not found</h1>
    <p class="empty">${sentence} <a href="${links.list()}">All instances</a></p>`;
  return { status: 404, parts: { title: "Not found", main } };
}

function plain(status: number, sentence: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${sentence}\n`, {
    status,
    headers: { ...HEADERS, ...headers, "content-type": "text/plain; charset=utf-8" },
  });
}

/** The filters of a list as they stand in its address. What cannot be read narrows nothing. */
function listQuery(params: URLSearchParams): ListQuery {
  const workflow = params.get("workflow") ?? "";
  const status = params.get("status");
  const [, createdAt = "", id = ""] = /^(\d{1,15}):(.+)$/s.exec(params.get("before") ?? "") ?? [];
  return {
    ...(workflow === "" ? {} : { workflow }),
    ...(status === "active" || status === "done" ? { status } : {}),
    ...(createdAt === "" ? {} : { before: { createdAt: Number(createdAt), id } }),
  };
}
