/** Tables of the operator: matters that need a person, decisions about matters, and the audit log. */
import { column, ownTable, type Row } from "../../../../storage/table.ts";
import { rowOf, type TableReader, rowsOf } from "./read.ts";

/** Matters that need a person, as far as they have been reported. `id` is the matter's. */
export const matters = ownTable("matters", {
  columns: {
    id: "text",
    version: "integer",
    kind: "text",
    /**
     * `waiting`: the matter needs a person. `ending`: the matter is over, and its end is not reported yet. `over`: the
     * end was reported.
     */
    state: column<"waiting" | "ending" | "over">("text"),
    transactionId: "text?",
    accountId: "text?",
    message: "text",
    /** The time when the matter was first seen. */
    since: "integer",
    /** The time when the host was told that the matter began; null before. */
    toldAt: "integer?",
    /** Until this time one process is telling the host about the matter, and other processes wait. */
    tellingUntil: "integer?",
    /** The time when a process last reported a sighting; null for matters that every process can find. */
    seenAt: "integer?",
  },
  indexes: { ofState: ["state", "since", "id"] },
});

export interface MatterRecord extends Row<typeof matters> {}

/** Operators' decisions about matters. `id` is the id of the matter; a decision expects the version that was read. */
export const decisions = ownTable("decisions", {
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
export const audit = ownTable("audit", {
  columns: {
    id: "text",
    at: "integer",
    /** The acting person, and the reason in the operator's own words. */
    actor: "text",
    reason: "text",
    /** The kind of act, such as `pause`. */
    act: "text",
    /** The details of the act, as JSON text. Holds no secret. */
    what: "text",
  },
  appendOnly: true,
  ordered: [],
});

export interface AuditRecord extends Row<typeof audit> {}

export const operatorReads = (read: TableReader) => ({
  /** Matters by their ids, in any order; absent ones are left out. */
  matters: (ids: readonly string[]) => rowsOf(read, matters, ids),
  /** Matters that are not reported as over, the oldest first: up to `limit`, or all. */
  async openMatters(limit?: number): Promise<readonly MatterRecord[]> {
    const atMost = limit === undefined ? {} : { limit };
    const of = (state: "waiting" | "ending") =>
      read.find({ table: matters, index: "ofState", equals: { state }, ...atMost });
    const open = await Promise.all([of("waiting"), of("ending")]);
    const oldestFirst = open.flat().toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));
    return oldestFirst.slice(0, limit);
  },
  /** The operators' decision about a matter; null without a decision. */
  decision: (id: string) => rowOf(read, decisions, id),
  /**
   * The operators' acts in the order in which they were committed: up to `limit`, from the one that follows the row with
   * the id `after`, or from the first. Null when there is no such row.
   */
  async audit(after: string | null, limit: number): Promise<readonly AuditRecord[] | null> {
    if (after === null) return read.find({ table: audit, limit });
    const [last, rows] = await Promise.all([
      rowOf(read, audit, after),
      read.find({ table: audit, beyond: after, limit }),
    ]);
    return last === null ? null : rows;
  },
});
