/** A table in memory that can take back what was done to it since the last checkpoint. */
import { copyRow, type Described } from "../row.ts";

/** The changes of an act across all tables, so that they can be taken back together. */
export class Journal {
  #undo: (() => void)[] = [];

  /** Notes how to take back what is being done. */
  record(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** Does all of `act` or nothing: what it changed is taken back when it throws, or when its answer is not to be kept. */
  atomically<A>(act: () => A, isKept: (answer: A) => boolean = () => true): A {
    this.#undo = [];
    let kept = false;
    try {
      const answer = act();
      kept = isKept(answer);
      return answer;
    } finally {
      const steps = kept ? [] : this.#undo.toReversed();
      for (const step of steps) step();
      this.#undo = [];
    }
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
  readonly #lookups = new Map<string, Map<unknown, Map<string, R>>>();
  #places = 0;

  constructor(shape: MemoryShape, journal: Journal) {
    this.#shape = shape;
    this.#journal = journal;
    for (const field of [...(shape.lookups ?? []), ...(shape.unique ?? [])]) {
      this.#lookups.set(field, new Map());
    }
  }

  /** The row itself, for reading inside. Hand out `copy` of it. */
  get(...key: readonly (string | number)[]): R | undefined {
    return this.#rows.get(JSON.stringify(key))?.row;
  }

  copy(row: R): R {
    return copyRow(this.#shape, row);
  }

  all(): R[] {
    return Array.from(this.#rows.values(), ({ row }) => row);
  }

  /** The rows whose lookup field has this value, in no order; null where rows are not gathered by this field. */
  gathered(field: string, value: unknown): R[] | null {
    const groups = this.#lookups.get(field);
    return groups === undefined ? null : [...(groups.get(value)?.values() ?? [])];
  }

  /** The rows whose lookup field has this value, in no order. */
  under(field: keyof R & string, value: unknown): R[] {
    return this.gathered(field, value) ?? [];
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
    // Null is no value: any number of rows may have it.
    const isTaken = (this.#shape.unique ?? []).some((field) => {
      const value = valueOf(stored, field);
      const others = value === null ? [] : (this.gathered(field, value) ?? []);
      return others.some((other) => this.#keyOf(other) !== key);
    });
    if (isTaken) return false;
    const place = this.#rows.get(key)?.place ?? (this.#places += 1);
    this.#swap(key, { row: stored, place });
    return true;
  }

  remove(row: R): void {
    this.#swap(this.#keyOf(row), undefined);
  }

  #swap(key: string, next: Placed<R> | undefined): void {
    const previous = this.#take(key);
    if (next !== undefined) this.#set(key, next);
    this.#journal.record(() => {
      this.#take(key);
      if (previous !== undefined) this.#set(key, previous);
    });
  }

  #set(key: string, placed: Placed<R>): void {
    this.#rows.set(key, placed);
    for (const [field, groups] of this.#lookups) {
      const value = valueOf(placed.row, field);
      groups.set(value, (groups.get(value) ?? new Map<string, R>()).set(key, placed.row));
    }
  }

  #take(key: string): Placed<R> | undefined {
    const placed = this.#rows.get(key);
    if (placed === undefined) return undefined;
    this.#rows.delete(key);
    for (const [field, groups] of this.#lookups) {
      const siblings = groups.get(valueOf(placed.row, field));
      siblings?.delete(key);
      if (siblings?.size === 0) groups.delete(valueOf(placed.row, field));
    }
    return placed;
  }

  #keyOf(row: R): string {
    return JSON.stringify((this.#shape.key ?? ["id"]).map((field) => valueOf(row, field)));
  }
}

const valueOf = (row: object, field: string): unknown => (row as Readonly<Record<string, unknown>>)[field];
