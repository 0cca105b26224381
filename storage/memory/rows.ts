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

/** Which rows are read: by default all, in no order. */
interface Selecting<R> {
  readonly under?: readonly [field: string, value: unknown];
  readonly where?: (row: R) => boolean;
  readonly order?: Order<R>;
  readonly limit?: number;
}

export type Order<R> = (a: R, b: R) => number;

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

  /** The rows with a value in a lookup field, or all: those that are wanted, in an order, up to a limit. */
  select({ under, where = () => true, order, limit }: Selecting<R> = {}): R[] {
    const rows = under === undefined ? this.#rows : this.#lookups.get(under[0])?.get(under[1]);
    const found = [...(rows?.values() ?? [])].filter(where);
    return (order === undefined ? found : found.toSorted(order)).slice(0, limit);
  }

  copies(wanted: Selecting<R>): R[] {
    return this.select(wanted).map((row) => this.copy(row));
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

  remove(row: R | undefined): void {
    if (row !== undefined) this.#swap(this.#keyOf(row), undefined);
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

/** Orders rows by these fields: the first difference decides. */
export const by =
  <R extends object>(...fields: readonly (keyof R & string)[]): Order<R> =>
  (a, b) => {
    for (const field of fields) {
      const side = compare(a[field], b[field]);
      if (side !== 0) return side;
    }
    return 0;
  };

/** Orders values: null first, false before true, texts by their bytes. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  return Number(a) - Number(b);
}
