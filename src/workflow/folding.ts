/** The option `history` of a workflow: one row of an instance's history with the whole snapshot, in place of those before. */
// modules: folding
import type { CommitParts, HistoryRecord } from "../../storage/storage.ts";
import { eventToText } from "./values.ts";

export interface HistoryOption {
  /**
   * For instances that live long: the history keeps at least the newest `keep` steps, and at most some twice as many; one
   * row with the whole snapshot stands for the steps before. A whole number from 10 to 10,000; default: all steps. It holds for child machines, too.
   */
  readonly history?: { readonly keep: number };
}

/** The stored part of folding in a snapshot. */
export interface FoldedSnapshot {
  /** @internal The version of the newest row of the history that holds a whole snapshot in place of older rows. */
  readonly folded?: number;
}

/** The type of the event in the history that holds the whole snapshot, and stands for the steps before it. */
export const FOLDED = "$folded";

/** Children keep what their parent keeps. */
export const inheritedHistory = "history";

/** The steps that fold in one commit must not hold up others: removing one takes a few microseconds. */
const MAX_KEPT = 10_000;

export function historyProblems({ history }: HistoryOption): string[] {
  const keep = history?.keep ?? null;
  const isRight = keep === null || (Number.isSafeInteger(keep) && keep >= 10 && keep <= MAX_KEPT);
  return isRight ? [] : [`history.keep: expected a whole number from 10 to ${MAX_KEPT}`];
}

interface FoldableStep<S> {
  readonly after: S;
  readonly earlier: readonly HistoryRecord[];
  readonly history: HistoryRecord;
  readonly forgets?: NonNullable<CommitParts["forgets"]>[number];
}

/** The part of a step that folding adds. */
export const foldingAddition = {
  field: "folded",
  filled<S extends FoldedSnapshot>(after: S, { before }: { readonly before: FoldedSnapshot | null }): S {
    return before?.folded === undefined ? after : { ...after, folded: before.folded };
  },
  /**
   * Where the history holds enough steps since its last whole snapshot: a row with the snapshot behind the step, in place of
   * all rows before the last one with a snapshot. So at least `keep` steps are there, and some twice as many at most.
   */
  rows<S extends FoldedSnapshot, Step extends FoldableStep<S>>(
    { given: { history: kept } }: { readonly given: HistoryOption },
    made: Step,
    own: (after: S) => S,
  ): Step {
    const { after: left, earlier, history } = made;
    const before = left.folded ?? 0;
    const version = history.version + 1;
    if (kept === undefined || version - before <= kept.keep) return made;
    const event = eventToText({ type: FOLDED, snapshot: own(left) });
    return {
      ...made,
      after: { ...left, folded: version },
      earlier: [...earlier, history],
      history: { ...history, version, event, cause: null },
      ...(before > 0 && { forgets: { instance: history.instance, before } }),
    };
  },
} as const;
