/** The inspector as a handler of requests: who may look is judged first, then the page, file or stream is found. */
import { createHash } from "node:crypto";
import { redactionOf } from "../core/redacting-log.ts";
import type { Clock, Logger } from "../core/runtime.ts";
import { confirmAct, isOfThisSite, performAct, type ActParts } from "./act.ts";
import type { FoundPage } from "./found-page.ts";
import { refusalOf, type Authorize, type ViewerRequest } from "./admit-viewer.ts";
import { pageAnswer, plain, redirect, typed, unchanged } from "./answers.ts";
import type { BundleParts } from "./bundle/export-bundle.ts";
import { ChartRegistry, type DrawableChart } from "./chart-registry.ts";
import { SCRIPT } from "./client/script.ts";
import type { InspectedParts } from "./find-instance-page.ts";
import { exported } from "./exports.ts";
import { PageHandler } from "./find-page.ts";
import { PageFeed, type PageAddress } from "./live/page-feed.ts";
import type { MadePage } from "./live/watched-page.ts";
import { Links, page, type PageParts } from "./pages/page.ts";
import { readableStorage } from "./readable-storage.ts";
import { FormRefused, type FormRequest } from "./read-form.ts";
import { SECTIONS } from "./sections.ts";
import { ICON, STYLE } from "./pages/style.ts";

/** The path of the inspector below a handler. */
export const INSPECTOR_PATH = "/_inspector";

/** Dependencies of the inspector. */
export interface InspectorParts {
  readonly inspected: InspectedParts;
  /** Charts of which nothing but their shape is here. */
  readonly drawings?: readonly DrawableChart[];
  /** Null admits this machine alone, and no viewer in production. */
  readonly authorize: Authorize | null;
  /** Whether admitted viewers may also act. */
  readonly acts: boolean;
  /** The clock of the shown instances, by which countdowns run. */
  readonly clock: Clock;
  /**
   * The clock that paces the looks for news: the machine's own clock, even where the clock of the instances is turned
   * by hand.
   */
  readonly pace: Clock;
  readonly log: Logger;
}

/** A request with where the inspector is mounted: the path of its list. */
interface InspectorRequest extends ViewerRequest, FormRequest {
  readonly base: string;
}

const FILES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  "/style.css": ["text/css; charset=utf-8", STYLE],
  "/script.js": ["text/javascript; charset=utf-8", SCRIPT],
  "/icon.svg": ["image/svg+xml", ICON],
};

export class Inspector {
  readonly #parts: InspectorParts;
  readonly #pages: PageHandler;
  readonly #acts: ActParts;
  readonly #charts: ChartRegistry;
  readonly #sources: BundleParts;
  readonly #streams: PageFeed;

  constructor(parts: InspectorParts) {
    const { acts, clock, pace, log } = parts;
    const { acting, ...rest } = parts.inspected;
    const seen = { ...rest, storage: readableStorage(rest.storage) };
    const inspected = acts && acting !== undefined ? { ...seen, acting } : seen;
    this.#parts = parts;
    inspected.calls?.begin();
    this.#acts = { acting: acts ? (acting ?? null) : null, payments: inspected.payments };
    const redact = redactionOf(log);
    const charts = new ChartRegistry(inspected.workflows, parts.drawings);
    this.#charts = charts;
    this.#sources = { storage: inspected.storage, charts, redact };
    this.#pages = new PageHandler({ inspected, clock, charts, redact });
    this.#streams = new PageFeed({
      clock,
      pace,
      onCommit: inspected.onCommit ?? (() => () => {}),
      onError: (err) => log.error({ err }, "the inspector could not show a page"),
      make: (address) => this.#make(address),
    });
  }

  /** Answers one request. Never rejects. */
  async respond(asked: InspectorRequest): Promise<Response> {
    const { request } = asked;
    const refusal = await refusalOf(asked, this.#parts.inspected, this.#parts.authorize);
    if (refusal !== null) return plain(403, refusal);
    this.#charts.layOut();
    const url = new URL(request.url);
    const path = url.pathname.slice(url.pathname.lastIndexOf(INSPECTOR_PATH) + INSPECTOR_PATH.length);
    const links = new Links(asked.base);
    try {
      if (request.method === "POST" && path === "/act") return await this.#act(links, asked);
    } catch (err) {
      if (err instanceof FormRefused) return plain(err.status, err.message);
      this.#parts.log.error({ err }, "the inspector could not carry out an act");
      return plain(500, "It is not known whether this was done; the log says more.");
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      return plain(405, "The inspector shows pages: GET and HEAD, and POST of an act.", {
        allow: "GET, HEAD",
      });
    }
    const asset = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
    if (asset !== undefined) return typed(asset[1], asset[0]);
    try {
      if (path === "/live") return this.#stream(asked, url.searchParams);
      const file = await exported(this.#sources, path, url.searchParams);
      if (file !== null) return file;
      if (path === "/act") return this.#whole(links, await confirmAct(this.#acts, links, url.searchParams));
      const { status, parts, to } = await this.#pages.find(links, path, url.searchParams);
      if (to !== undefined) return redirect(to);
      return this.#page(request, { status, parts }, links);
    } catch (err) {
      this.#parts.log.error({ err }, "the inspector could not show a page");
      return plain(500, "The page could not be made; the log says why.");
    }
  }

  async #act(links: Links, asked: FormRequest): Promise<Response> {
    return isOfThisSite(asked.request)
      ? this.#whole(links, await performAct(this.#acts, links, asked))
      : plain(403, "An act has to come from a page of this inspector.");
  }

  #whole(links: Links, { status, parts }: FoundPage): Response {
    return pageAnswer(status, this.#text(links, parts), {});
  }

  #page(request: Request, { status, parts }: FoundPage, links: Links): Response {
    const etag = `"${tagOf(`${parts.title} ${parts.main.text}`)}"`;
    return request.headers.get("if-none-match") === etag
      ? unchanged({ etag })
      : pageAnswer(status, this.#text(links, parts), { etag });
  }

  #text(links: Links, parts: PageParts): string {
    const { clock, inspected } = this.#parts;
    return page(links, parts, {
      tag: tagOf(parts.main.text),
      now: clock.now(),
      sections: SECTIONS.filter((each) => each.isThere(inspected)),
    });
  }

  /**
   * Streams a page to a browser. The browser names the page, and sends the tag of the version that it shows; after a
   * broken connection, the tag of the last event.
   */
  #stream({ request, base }: InspectorRequest, query: URLSearchParams): Response {
    const tag = request.headers.get("last-event-id") ?? query.get("tag");
    if (request.method === "HEAD") return typed(null, "text/event-stream");
    const stream = this.#streams.open({ base, path: query.get("page") ?? "" }, tag);
    return stream === null
      ? plain(503, "Too many pages are open: close some of them.")
      : typed(stream, "text/event-stream", { "x-accel-buffering": "no" });
  }

  async #make({ base, path: asked }: PageAddress): Promise<MadePage> {
    // Further question marks belong to the query.
    const [path = ""] = asked.split("?", 1);
    const { parts } = await this.#pages.find(
      new Links(base),
      path,
      new URLSearchParams(asked.slice(path.length)),
    );
    return { tag: tagOf(parts.main.text), main: parts.main.text };
  }
}

function tagOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
