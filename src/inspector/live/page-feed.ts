/**
 * Pages on their way to browsers as server-sent events: a stream begins with a whole page, and goes on with differences; each
 * has the tag of its page, so none can be missed or shown twice.
 */
import type { Clock } from "../../core/runtime.ts";
import { changesOf, piecesOf } from "./page-pieces.ts";
import { WatchedPage, type MadePage, type WatchedPageParts } from "./watched-page.ts";

/** The address of a followed page. */
export interface PageAddress {
  /** The path at which the inspector is mounted: a page has links in it. */
  readonly base: string;
  /** The path below `base`, with its query. */
  readonly path: string;
}

/** Parts of the streams. */
interface PageFeedParts extends Omit<WatchedPageParts, "make"> {
  readonly make: (address: PageAddress) => Promise<MadePage>;
  /** The clock that the pages count down by. */
  readonly clock: Clock;
}

/** Browsers reconnect when a stream ends, and access is then checked again. */
const MAX_STREAM_MS = 60_000;
const RETRY_MS = 250;
const MAX_STREAMS = 200;

export class PageFeed {
  readonly #parts: PageFeedParts;
  readonly #pages = new Map<string, WatchedPage>();
  #open = 0;

  constructor(parts: PageFeedParts) {
    this.#parts = parts;
  }

  /** The events of one page, from the first that differs from `tag` on; null while too many streams are open. */
  open(address: PageAddress, tag: string | null): ReadableStream<Uint8Array> | null {
    if (this.#open >= MAX_STREAMS) return null;
    this.#open += 1;
    const { clock, pace } = this.#parts;
    const isOver = new AbortController();
    const outlet = new Outlet(clock);
    let stop: () => void = () => {};
    const leave = (): void => {
      if (isOver.signal.aborted) return;
      isOver.abort();
      this.#open -= 1;
      stop();
      this.#forget(address);
    };
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        outlet.begin(controller);
        stop = this.#pageOf(address).watch((page) => outlet.tell(controller, page), tag);
        void pace.sleep(MAX_STREAM_MS, isOver.signal).then(() => {
          if (isOver.signal.aborted) return;
          leave();
          controller.close();
        });
      },
      pull: (controller) => outlet.pour(controller),
      cancel: leave,
    });
  }

  #pageOf(address: PageAddress): WatchedPage {
    const key = keyOf(address);
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const made = new WatchedPage({ ...this.#parts, make: () => this.#parts.make(address) });
    this.#pages.set(key, made);
    return made;
  }

  #forget(address: PageAddress): void {
    const key = keyOf(address);
    if (this.#pages.get(key)?.isWatched === false) this.#pages.delete(key);
  }
}

const keyOf = ({ base, path }: PageAddress): string => `${base}\n${path}`;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** The way out to one browser. A slow reader gets only the newest page: earlier pages are skipped. */
class Outlet {
  readonly #clock: Clock;
  readonly #encoder = new TextEncoder();
  #newest: MadePage | null = null;
  /** The pieces of the page that was sent last: the next page is sent as its differences from them. */
  #sent: readonly string[] | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(controller: Controller): void {
    controller.enqueue(this.#encoder.encode(`retry: ${RETRY_MS}\n\n`));
  }

  tell(controller: Controller, page: MadePage): void {
    this.#newest = page;
    this.pour(controller);
  }

  pour(controller: Controller): void {
    if (this.#newest === null || (controller.desiredSize ?? 0) <= 0) return;
    const { tag, main } = this.#newest;
    this.#newest = null;
    const pieces = piecesOf(main);
    const page = this.#sent === null ? { main } : { changes: changesOf(this.#sent, pieces) };
    this.#sent = pieces;
    const data = JSON.stringify({ clock: this.#clock.now(), ...page });
    controller.enqueue(this.#encoder.encode(`id: ${tag}\nevent: page\ndata: ${data}\n\n`));
  }
}
