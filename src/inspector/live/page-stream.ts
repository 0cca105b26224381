/** Pages on their way to browsers as server-sent events: each event is a whole page, so none can be missed or shown twice. */
import type { Clock } from "../../runtime.ts";
import { WatchedPage, type MadePage, type WatchedPageParts } from "./watched-page.ts";

/** What the streams are made of. */
export interface PageStreamsParts extends Omit<WatchedPageParts, "make"> {
  /** Makes the page at this path, which has its query with it. */
  readonly make: (page: string) => Promise<MadePage>;
  /** The clock that the pages count down by. */
  readonly clock: Clock;
}

/** Browsers ask again when a stream ends. Then it is judged again who may look. */
const MAX_STREAM_MS = 60_000;
const RETRY_MS = 250;
const MAX_STREAMS = 200;

export class PageStreams {
  readonly #parts: PageStreamsParts;
  readonly #pages = new Map<string, WatchedPage>();
  #open = 0;

  constructor(parts: PageStreamsParts) {
    this.#parts = parts;
  }

  /** The events of one page, from the first that differs from `tag` on; null while too many streams are open. */
  open(page: string, tag: string | null): ReadableStream<Uint8Array> | null {
    if (this.#open >= MAX_STREAMS) return null;
    this.#open += 1;
    const { clock, pace } = this.#parts;
    const encoder = new TextEncoder();
    const isOver = new AbortController();
    let stop: () => void = () => {};
    const leave = (): void => {
      if (isOver.signal.aborted) return;
      isOver.abort();
      this.#open -= 1;
      stop();
      this.#forget(page);
    };
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
        stop = this.#pageOf(page).watch(({ tag: id, main }) => {
          const data = JSON.stringify({ clock: clock.now(), main });
          controller.enqueue(encoder.encode(`id: ${id}\nevent: page\ndata: ${data}\n\n`));
        }, tag);
        void pace.sleep(MAX_STREAM_MS, isOver.signal).then(() => {
          if (isOver.signal.aborted) return;
          leave();
          controller.close();
        });
      },
      cancel: leave,
    });
  }

  #pageOf(page: string): WatchedPage {
    const known = this.#pages.get(page);
    if (known !== undefined) return known;
    const made = new WatchedPage({ ...this.#parts, make: () => this.#parts.make(page) });
    this.#pages.set(page, made);
    return made;
  }

  #forget(page: string): void {
    if (this.#pages.get(page)?.isWatched === false) this.#pages.delete(page);
  }
}
