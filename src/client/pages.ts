/** Reads a list of the service page by page, as far as its reader goes. */
import { NoAnswer } from "./no-answer.ts";

/** A page of a list. A page may be empty where `hasMore` is true. */
export interface PageBody<Element> {
  readonly data: readonly Element[];
  readonly hasMore: boolean;
  /** Where the next page begins; undefined for behind the last element. */
  readonly nextAfter?: string | undefined;
}

/** Asks for the page after this place, or for the first one. */
type AskForPage = (startingAfter: string | undefined) => Promise<unknown>;

/**
 * A list. Nothing is asked for until it is read: `for await` goes through all elements, page after page, and ends where
 * the list ends; `page()` is one page. It can be read more than once, from its beginning each time.
 */
export class Pages<Element> implements AsyncIterable<Element> {
  readonly #ask: AskForPage;
  readonly #id: string;

  constructor(ask: AskForPage, id: string) {
    this.#ask = ask;
    this.#id = id;
  }

  /** The first page, or that after the query's `startingAfter`. */
  async page(): Promise<PageBody<Element>> {
    return this.#read(undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Element, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const { data, hasMore, nextAfter } = await this.#read(after);
      yield* data;
      if (!hasMore) return;
      const last = nextAfter ?? this.#idOf(data.at(-1));
      // The same page again and again would never end.
      if (last === null || last === after) {
        throw unusablePage("it has more, and does not tell behind what");
      }
      after = last;
    }
  }

  async #read(startingAfter: string | undefined): Promise<PageBody<Element>> {
    const page = (await this.#ask(startingAfter)) as Partial<PageBody<Element>>;
    if (!Array.isArray(page.data) || typeof page.hasMore !== "boolean") {
      throw unusablePage("it is no page of a list");
    }
    return page as PageBody<Element>;
  }

  #idOf(element: Element | undefined): string | null {
    const id = (element as Readonly<Record<string, unknown>> | undefined | null)?.[this.#id];
    return typeof id === "string" && id !== "" ? id : null;
  }
}

function unusablePage(why: string): NoAnswer {
  return new NoAnswer({
    message: `the list cannot be read: ${why}`,
    status: 200,
    mayPass: false,
    attempts: 1,
    idempotencyKey: null,
  });
}
