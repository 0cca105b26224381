/** A table in memory that can take back what was done to it since the last checkpoint. */
import { copyRow, type Described } from "../row.ts";

/** The changes of an act across all tables, so that they can be taken back together. Acts may be part of an act. */
export class Journal {
  #undo: (() => void)[] = [];
  #depth = 0;

  /** Notes how to take back what is being done. Taking back itself is not noted. */
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

/** What a table in memory hears of the rows it holds. */
export interface MemoryShape extends Described {
  /** The fields that identify a row; `id` alone unless said otherwise. */
  readonly key?: readonly string[];
  /** Fields that are unique besides the key. */
  readonly unique?: readonly string[];
  /** Fields whose values gather rows that are read together. */
  readonly lookups?: readonly string[];
}

/** A row, and its place in the order in which rows were inserted. */
interface Placed<R> {
  readonly row: R;
  readonly place: number;
}

/** Rows are copied on the way in and on the way out; inside they are replaced, never changed. */
export class MemoryTable<R extends object> {
  readonly #shape: MemoryShape;
  readonly #journal: Journal;
  readonly #rows = new Map<string, Placed<R>>();
  /** By field, by value, by key. */
  readonly #lookups: ReadonlyMap<string, Map<unknown, Map<string, Placed<R>>>>;
  readonly #taken = new Map<string, string>();
  #places = 0;

  constructor(shape: MemoryShape, journal: Journal) {
    this.#shape = shape;
    this.#journal = journal;
    this.#lookups = new Map((shape.lookups ?? []).map((field) => [field, new Map()]));
  }

  /** The row itself, for reading inside. Hand out `copy` of it. */
  get(...key: readonly (string | number)[]): R | undefined {
    return this.#rows.get(JSON.stringify(key))?.row;
  }

  copy(row: R): R {
    return copyRow(this.#shape, row);
  }

  *all(): Iterable<R> {
    for (const { row } of this.#rows.values()) yield row;
  }

  /** The rows whose lookup field has this value, in no order. */
  under(field: string, value: unknown): R[] {
    return [...(this.#lookups.get(field)?.get(value)?.values() ?? [])].map(({ row }) => row);
  }

  /** The values of a lookup field that any row has, in no order. */
  valuesOf(field: string): unknown[] {
    return [...(this.#lookups.get(field)?.keys() ?? [])];
  }

  /** Whether rows are gathered by this field. */
  looksUp(field: string): boolean {
    return this.#lookups.has(field);
  }

  /** Where the row stands in the order in which rows were inserted. */
  placeOf(row: R): number {
    return this.#rows.get(this.#keyOf(row))?.place ?? Infinity;
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
    if (!free) return false;
    const place = this.#rows.get(key)?.place ?? (this.#places += 1);
    this.#swap(key, { row: stored, place });
    return true;
  }

  remove(row: R): void {
    this.#swap(this.#keyOf(row), undefined);
  }

  #swap(key: string, next: Placed<R> | undefined): void {
    const previous = this.#rows.get(key);
    if (previous !== undefined) this.#unindex(key, previous.row);
    if (next === undefined) this.#rows.delete(key);
    else {
      this.#rows.set(key, next);
      this.#index(key, next);
    }
    this.#journal.record(() => this.#swap(key, previous));
  }

  #index(key: string, placed: Placed<R>): void {
    for (const value of this.#uniqueValues(placed.row)) this.#taken.set(value, key);
    for (const [field, groups] of this.#lookups) {
      const value = valueOf(placed.row, field);
      const siblings = groups.get(value) ?? new Map<string, Placed<R>>();
      groups.set(value, siblings.set(key, placed));
    }
  }

  #unindex(key: string, row: R): void {
    for (const value of this.#uniqueValues(row)) this.#taken.delete(value);
    for (const [field, groups] of this.#lookups) {
      const value = valueOf(row, field);
      const siblings = groups.get(value);
      siblings?.delete(key);
      if (siblings?.size === 0) groups.delete(value);
    }
  }

  #keyOf(row: R): string {
    return JSON.stringify((this.#shape.key ?? ["id"]).map((field) => valueOf(row, field)));
  }

  /** Null is no value: any number of rows may have it. */
  #uniqueValues(row: R): readonly string[] {
    const values = (this.#shape.unique ?? []).map((field) => [field, valueOf(row, field)] as const);
    return values.filter(([, value]) => value !== null).map((pair) => JSON.stringify(pair));
  }
}

const valueOf = (row: object, field: string): unknown => (row as Readonly<Record<string, unknown>>)[field];
