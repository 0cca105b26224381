/** Rows that go once they are old: a rule for each table, and one sweep for all tables. */
import type { EngineStorage } from "../../../../storage/storage.ts";
import { timeOfId } from "../ids.ts";
import { carryOut, type Removal, type RemovingParts } from "./removal.ts";

/** A row that may go with its dependents. The rows in `before` go first, in commits of their own. */
export interface Leaving {
  readonly before: readonly Removal[];
  readonly removal: () => Promise<Removal>;
}

/** Why a row is kept: it always stays, or may be old enough later. */
export type Kept = "stays" | "later";

/** The rows of a table that may go, and the time. */
export interface OldRowRule<R extends { readonly id: string }> {
  readonly name: string;
  /** Milliseconds; null where its rows are kept for good. */
  readonly keepMs: number | null;
  /** Up to `limit` rows in the order of time, the first one behind `after`. */
  page(after: R | null, limit: number): Promise<readonly R[]>;
  /** When the row was made. Default: as its id tells. */
  timeOf?(row: R): number;
  /** Looks at a row that was made before `until`. */
  look(row: R, until: number): Promise<Leaving | Kept>;
}

/** Rows of a kind that go once they are old. */
export interface OldRows {
  readonly name: string;
  /** Milliseconds; null where they are kept for good. */
  readonly keepMs: number | null;
  /** Looks at all that was made before `until`; tells after each batch how many rows of it are gone. */
  readonly batches: (until: number) => AsyncGenerator<number>;
}

export function oldRows<R extends { readonly id: string }>(
  parts: RemovingParts<EngineStorage>,
  rule: OldRowRule<R>,
): OldRows {
  const oldest = new OldestRowReader(parts, rule);
  return { name: rule.name, keepMs: rule.keepMs, batches: (until) => oldest.batches(until) };
}

/** A small batch, so that other callers wait for a few reads only. With 32 a batch kept sends waiting for a second. */
const PAGE = 8;

/** A row that always stays is looked at once in the life of a process, so what is kept for good costs later passes nothing. */
class OldestRowReader<R extends { readonly id: string }> {
  readonly #parts: RemovingParts<EngineStorage>;
  readonly #rule: OldRowRule<R>;
  /** Up to here every row is gone or stays. */
  #decided: R | null = null;

  constructor(parts: RemovingParts<EngineStorage>, rule: OldRowRule<R>) {
    this.#parts = parts;
    this.#rule = rule;
  }

  async *batches(until: number): AsyncGenerator<number> {
    const rule = this.#rule;
    let after = this.#decided;
    let isWhole = true;
    for (;;) {
      const page = await rule.page(after, PAGE);
      const old = page.filter((row) => (rule.timeOf?.(row) ?? timeOfId(row.id)) <= until);
      const looked = await Promise.all(old.map((row) => rule.look(row, until)));
      const gone = await removed(this.#parts, looked);
      for (const [index, row] of old.entries()) {
        const state = looked[index];
        isWhole &&= state === "stays" || (typeof state === "object" && gone.has(state));
        if (isWhole) this.#decided = row;
        after = row;
      }
      if (old.length > 0) yield gone.size;
      if (old.length < PAGE) return;
    }
  }
}

/** The removed rows. All of a page together: the commits of many at once, and not the round trips of one after another. */
async function removed(
  parts: RemovingParts<EngineStorage>,
  looked: readonly (Leaving | Kept)[],
): Promise<ReadonlySet<Leaving>> {
  const leaving = looked.filter((each) => typeof each === "object");
  const isGone = await carryOut(
    parts,
    leaving.flatMap(({ before }) => before),
  );
  let next = 0;
  const bare = leaving.filter(({ before }) =>
    before.map(() => isGone[next++]).every((each) => each === true),
  );
  const results = await carryOut(parts, await Promise.all(bare.map(({ removal }) => removal())));
  return new Set(bare.filter((_, index) => results[index] === true));
}
