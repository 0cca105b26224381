/** The rows of a table in memory, the way back from what was done to them, and the order in which databases have them. */
import { compareTexts, copyRow } from "../index.ts";

/** The changes of an act across all tables, so that they can be taken back together. */
export class Journal {
  #undo: (() => void)[] = [];

  record(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** Does all of `act` or nothing: changes are taken back when `act` throws, or when its answer is not to be kept. */
  atomically<A>(act: () => A, isKept: (answer: A) => boolean = () => true): A {
    this.#undo = [];
    let kept = false;
    try {
      const answer = act();
      kept = isKept(answer);
      return answer;
    } finally {
      if (!kept) for (const step of this.#undo.toReversed()) step();
      this.#undo = [];
    }
  }
}

interface Shape {
  readonly columns: object;
  readonly key?: readonly string[];
  readonly lookups?: readonly string[];
}

/** Rows are replaced, never changed: what comes from outside, or goes there, is a `copy`. */
export class Rows<R extends object> {
  readonly #shape: Shape;
  readonly #journal: Journal;
  readonly #rows = new Map<string, R>();
  /** Lookups by field, by value, by key. */
  readonly #lookups: ReadonlyMap<string, Map<unknown, Map<string, R>>>;

  constructor(shape: Shape, journal: Journal) {
    this.#shape = shape;
    this.#journal = journal;
    this.#lookups = new Map((shape.lookups ?? []).map((field) => [field, new Map()]));
  }

  get(...key: readonly (string | number)[]): R | undefined {
    return this.#rows.get(JSON.stringify(key));
  }

  copy(row: R): R {
    return copyRow(this.#shape, row);
  }

  all(): R[] {
    return [...this.#rows.values()];
  }

  /** The rows with this value in a lookup field, in no order. */
  under(field: string, value: unknown): R[] {
    return [...(this.#lookups.get(field)?.get(value)?.values() ?? [])];
  }

  /** Adds the row; false when its key is taken. */
  insert(row: R): boolean {
    const isNew = !this.#rows.has(this.#keyOf(row));
    if (isNew) this.put(row);
    return isNew;
  }

  put(row: R): void {
    this.#swap(this.#keyOf(row), row);
  }

  remove(row: R): void {
    this.#swap(this.#keyOf(row), undefined);
  }

  #swap(key: string, next: R | undefined): void {
    const previous = this.#rows.get(key);
    this.#set(key, previous, next);
    this.#journal.record(() => this.#set(key, next, previous));
  }

  #set(key: string, from: R | undefined, to: R | undefined): void {
    if (to === undefined) this.#rows.delete(key);
    else this.#rows.set(key, to);
    for (const [field, groups] of this.#lookups) {
      const left = from === undefined ? undefined : groups.get(valueOf(from, field));
      left?.delete(key);
      if (from !== undefined && left?.size === 0) groups.delete(valueOf(from, field));
      if (to === undefined) continue;
      const value = valueOf(to, field);
      groups.set(value, (groups.get(value) ?? new Map<string, R>()).set(key, to));
    }
  }

  #keyOf(row: R): string {
    return JSON.stringify((this.#shape.key ?? ["id"]).map((field) => valueOf(row, field)));
  }
}

const valueOf = (row: object, field: string): unknown => (row as Readonly<Record<string, unknown>>)[field];

/** Orders rows by the values of these functions: the first difference decides. */
export function by<R>(...values: readonly ((row: R) => unknown)[]): (a: R, b: R) => number {
  return (a, b) => {
    for (const value of values) {
      const side = compare(value(a), value(b));
      if (side !== 0) return side;
    }
    return 0;
  };
}

/** Orders values: null first, false before true, texts by their bytes. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  return Number(a) - Number(b);
}
