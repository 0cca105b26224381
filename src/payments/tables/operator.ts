/** What needs a person, what operators have decided about it, and what they did. */
import { column, defineTable, type Row } from "../../../storage/table.ts";
import { type TableReader, rowsOf } from "./read.ts";

/** Matters that need a person, as far as they have been reported. `id` is the matter's. */
export const matters = defineTable("matters", {
  columns: {
    id: "text",
    version: "integer",
    kind: "text",
    /** `waiting`: it needs a person. `ending`: it is over, which has not been reported yet. `over`: that was reported, too. */
    state: column<"waiting" | "ending" | "over">("text"),
    transactionId: "text?",
    accountId: "text?",
    message: "text",
    /** When it was first seen. */
    since: "integer",
    /** When its beginning was reported; null while it was not. */
    toldAt: "integer?",
    /** Until then one process is telling it, and others leave it alone. */
    tellingUntil: "integer?",
    /** When a process last said that it sees what others cannot; null for what every process finds. */
    seenAt: "integer?",
  },
  migrations: [{ add: { seenAt: null } }],
  indexes: { ofState: ["state", "since", "id"] },
});

export interface MatterRecord extends Row<typeof matters> {}

/** What operators have decided about matters. `id` is the matter's; a decision expects the version that it has read. */
export const decisions = defineTable("decisions", {
  columns: {
    id: "text",
    version: "integer",
    /** An action that waits for a second person, as JSON text. */
    proposal: "text?",
    decidedAt: "integer",
  },
});

export interface DecisionRecord extends Row<typeof decisions> {}

/** The acts of operators. Rows are only added, never changed. */
export const audit = defineTable("audit", {
  columns: {
    id: "text",
    at: "integer",
    /** Who acted, and why, in the operator's own words. */
    actor: "text",
    reason: "text",
    /** Which act it was, such as `pause`. */
    act: "text",
    /** What exactly was done, as JSON text. Holds no secret. */
    what: "text",
  },
  appendOnly: true,
  ordered: [],
});

export interface AuditRecord extends Row<typeof audit> {}

export const operatorReads = (read: TableReader) => ({
  /** Matters by their ids, in any order; absent ones are left out. */
  matters: (ids: readonly string[]) => rowsOf(read, matters, ids),
  /** Up to `limit` matters that are not reported as over, the oldest first. */
  async openMatters(limit: number): Promise<readonly MatterRecord[]> {
    const of = (state: "waiting" | "ending") =>
      read.find({ table: matters, index: "ofState", equals: { state }, limit });
    const open = await Promise.all([of("waiting"), of("ending")]);
    const oldestFirst = open.flat().toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));
    return oldestFirst.slice(0, limit);
  },
  /** What operators have decided about a matter; null while nothing was. */
  decision: (id: string) => read.get(decisions, id),
  /**
   * The operators' acts in the order in which they were committed: up to `limit`, from the one that follows the row with
   * the id `after`, or from the first. Null when there is no such row.
   */
  async audit(after: string | null, limit: number): Promise<readonly AuditRecord[] | null> {
    if (after === null) return read.find({ table: audit, limit });
    const [last, rows] = await Promise.all([
      read.get(audit, after),
      read.find({ table: audit, beyond: after, limit }),
    ]);
    return last === null ? null : rows;
  },
});
