/** A table in memory that can take back what was done to it since the last checkpoint. */
import { copyRow } from "../row.ts";
import type { Table } from "../tables.ts";

/** The changes of an act across all tables, so that they can be taken back together. Acts may be part of an act. */
export class Journal {
  #undo: (() => void)[] = [];
  #depth = 0;

  /** Notes how to take back what is being done. Taking back is noted by nobody. */
  record(undo: () => void): void {
    if (this.#depth > 0) this.#undo.push(undo);
  }

  /** Does all of `act` or nothing: what it changed is taken back when it throws, or when its answer is not to be kept. */
  atomically<A>(act: () => A, isKept: (answer: A) => boolean = () => true): A {
    const before = this.#undo.length;
    let kept = false;
    this.#depth += 1;
    try {
      const answer = act();
      kept = isKept(answer);
      return answer;
    } finally {
      this.#depth -= 1;
      if (!kept) this.#takeBack(this.#undo.splice(before));
      if (this.#depth === 0) this.#undo = [];
    }
  }

  #takeBack(steps: readonly (() => void)[]): void {
    const depth = this.#depth;
    this.#depth = 0;
    for (const step of steps.toReversed()) step();
    this.#depth = depth;
  }
}

/** Rows are copied on the way in and on the way out; inside they are replaced, never changed. */
export class MemoryTable<R extends object> {
  readonly #table: Table<R>;
  readonly #journal: Journal;
  readonly #keyFields: readonly (keyof R & string)[];
  readonly #rows = new Map<string, R>();
  readonly #lookup = new Map<unknown, Map<string, R>>();
  readonly #taken = new Map<string, string>();

  constructor(table: Table<R>, journal: Journal) {
    this.#table = table;
    this.#journal = journal;
    this.#keyFields = table.key ?? (["id"] as unknown as readonly (keyof R & string)[]);
  }

  /** The row itself, for reading inside. Hand out `copy` of it. */
  get(...key: readonly (string | number)[]): R | undefined {
    return this.#rows.get(JSON.stringify(key));
  }

  copy(row: R): R {
    return copyRow(this.#table, row);
  }

  all(): Iterable<R> {
    return this.#rows.values();
  }

  /** The rows whose lookup field has this value. */
  under(value: unknown): R[] {
    return [...(this.#lookup.get(value)?.values() ?? [])];
  }

  /** Adds the row; false when its key or a unique field is taken. */
  insert(row: R): boolean {
    return !this.#rows.has(this.#keyOf(row)) && this.put(row);
  }

  /** Adds or replaces the row; false when a unique field is taken by another. */
  put(row: R): boolean {
    const stored = this.copy(row);
    const key = this.#keyOf(stored);
    const free = this.#uniqueValues(stored).every((value) => (this.#taken.get(value) ?? key) === key);
    if (free) this.#swap(key, stored);
    return free;
  }

  remove(row: R): void {
    this.#swap(this.#keyOf(row), undefined);
  }

  #swap(key: string, next: R | undefined): void {
    const previous = this.#rows.get(key);
    if (previous !== undefined) this.#unindex(key, previous, next);
    if (next === undefined) this.#rows.delete(key);
    else {
      this.#rows.set(key, next);
      this.#index(key, next);
    }
    this.#journal.record(() => this.#swap(key, previous));
  }

  #index(key: string, row: R): void {
    for (const value of this.#uniqueValues(row)) this.#taken.set(value, key);
    const { lookup } = this.#table;
    if (lookup === undefined) return;
    const siblings = this.#lookup.get(row[lookup]) ?? new Map<string, R>();
    this.#lookup.set(row[lookup], siblings.set(key, row));
  }

  /** A row that only changes keeps its place among those it is read with. */
  #unindex(key: string, row: R, next: R | undefined): void {
    for (const value of this.#uniqueValues(row)) this.#taken.delete(value);
    const { lookup } = this.#table;
    if (lookup === undefined || next?.[lookup] === row[lookup]) return;
    const siblings = this.#lookup.get(row[lookup]);
    siblings?.delete(key);
    if (siblings?.size === 0) this.#lookup.delete(row[lookup]);
  }

  #keyOf(row: R): string {
    return JSON.stringify(this.#keyFields.map((field) => row[field]));
  }

  #uniqueValues(row: R): readonly string[] {
    return (this.#table.unique ?? []).map((field) => JSON.stringify([field, row[field]]));
  }
}
