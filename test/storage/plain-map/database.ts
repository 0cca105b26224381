/** Plain Maps of records, and the way back: what a commit has done to them is undone by putting copies of the Maps back. */
import type { HistoryRecord, InstanceRecord, WatchRecord } from "paystate/engine";
import { compareTexts, type EngineTables, type TaskRow } from "paystate/storage";

/** A row of a table that the caller brought. */
export type Row = Readonly<Record<string, unknown>>;

/** Everything stored. Records are replaced and never changed, so a copy of a Map is a picture of its moment. */
export class Database {
  instances = new Map<string, InstanceRecord>();
  history = new Map<string, HistoryRecord>();
  tasks = new Map<string, TaskRow>();
  armed = 0;
  watches = new Map<string, WatchRecord>();
  leases = new Map<string, EngineTables["paystateLeases"]>();
  installed = new Map<string, { readonly definition: string; readonly migrations: number }>();
  rows = new Map<string, Map<string, Row>>();

  /** Keeps what `act` did when `isKept` likes its result. Else, and when it throws, nothing has happened. */
  atomically<T>(act: () => T, isKept: (result: T) => boolean = () => true): T {
    const before = this.#copy();
    let isDone = false;
    try {
      const result = act();
      isDone = isKept(result);
      return result;
    } finally {
      if (!isDone) Object.assign(this, before);
    }
  }

  #copy(): Partial<Database> {
    return {
      instances: new Map(this.instances),
      history: new Map(this.history),
      tasks: new Map(this.tasks),
      watches: new Map(this.watches),
      leases: new Map(this.leases),
      installed: new Map(this.installed),
      rows: new Map([...this.rows].map(([name, rows]) => [name, new Map(rows)])),
    };
  }
}

/** One key for a record that several fields identify. */
export const keyOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);

/** Orders by the values of these functions, the first difference decides; equal ones stay as they were. */
export function by<T>(...values: readonly ((record: T) => unknown)[]): (a: T, b: T) => number {
  return (a, b) => {
    for (const value of values) {
      const order = compared(value(a), value(b));
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Null stands before all values, false before true; texts are ordered by their bytes. */
export function compared(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return typeof a === "string" && typeof b === "string" ? compareTexts(a, b) : Number(a) - Number(b);
}
