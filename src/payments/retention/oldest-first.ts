/** Goes through rows from the oldest on by their ids, which begin with the time, and remembers how far all is decided. */
import { timeOfId } from "../ids.ts";

/** The judgement of a row: `gone`, always `stays`, or may be old enough `later`. */
export type RetentionState = "gone" | "stays" | "later";

/** The search and judgement of old rows of a table. */
export interface Rows<R> {
  /** Up to `limit` rows by ascending id, the first one above `after`. */
  page(after: string, limit: number): Promise<readonly R[]>;
  /** Removes what can be removed of these; answers for each what became of it. */
  judge(rows: readonly R[], until: number): Promise<readonly RetentionState[]>;
}

/** So few that what others ask meanwhile waits for a few reads. With 32 a batch kept sends waiting for a second. */
const PAGE = 8;

/**
 * No index of their own is needed for it: ids are in the order of time. A row that always stays is looked at once in the
 * life of a process, so what is kept for good costs later passes nothing.
 */
export class OldestRowReader<R extends { readonly id: string }> {
  readonly #rows: Rows<R>;
  /** Up to here every row is gone or stays. */
  #decided = "";

  constructor(rows: Rows<R>) {
    this.#rows = rows;
  }

  /** Looks at all that was made before `until`; tells after each page how many rows of it are gone. */
  async *batches(until: number): AsyncGenerator<number> {
    let after = this.#decided;
    let isWhole = true;
    for (;;) {
      const page = await this.#rows.page(after, PAGE);
      const old = page.filter(({ id }) => timeOfId(id) <= until);
      const judged = await this.#rows.judge(old, until);
      for (const [index, { id }] of old.entries()) {
        isWhole &&= judged[index] !== "later";
        if (isWhole) this.#decided = id;
        after = id;
      }
      if (old.length > 0) yield judged.filter((each) => each === "gone").length;
      if (old.length < PAGE) return;
    }
  }
}
