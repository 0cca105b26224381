/** Work that modules of the engine carry out in commits beside rows of tables: a line for each in each list. */
import type { AnyCommit, CommitResult, Write } from "../../storage/storage.ts";
import type { StartRefusal } from "./effect-run.ts";
import { queryCarrier, type CompiledQuery, type QueriesOption, type QueryRefusal } from "./host-sql.ts";
import type { Writable } from "./writable.ts";

/** Parts of the outcome of an effect. */
// A line for each module, which goes with the module.
// prettier-ignore
export type OutcomeOptions =
  & QueriesOption
  & object;

/** The parts of a commit, from an outcome or from `project`. */
// prettier-ignore
export type Carried = [
  CompiledQuery,
][number];

/** The reasons for which an outcome may be refused. */
// prettier-ignore
export type OutcomeRefusal =
  | QueryRefusal
  | StartRefusal;

/** The result of `project`. */
// prettier-ignore
export type ProjectedRow<W> =
  | CompiledQuery
  | Write<W>;

/** The form of a part of an outcome, and its test. */
export type ExpectedPart = readonly [string, (part: unknown) => boolean];

interface CommitCarrier {
  /** Its parts of an outcome. */
  readonly fields: Readonly<Record<string, ExpectedPart>>;
  readonly ofOutcome: (outcome: OutcomeOptions) => readonly Carried[];
  readonly isCarried: (projected: object) => projected is Carried;
  readonly put: (commit: Writable<AnyCommit>, carried: readonly Carried[]) => void;
  /** The place of what was refused, null where it was no single one; null for a commit that was not refused for it. */
  readonly refused: (
    result: CommitResult,
  ) => { readonly place: number | null; readonly told: OutcomeRefusal } | null;
}

// prettier-ignore
const CARRIERS: readonly CommitCarrier[] = [
  queryCarrier,
];

const NO_CARRIER: CommitCarrier = {
  fields: {},
  ofOutcome: () => [],
  isCarried: (_): _ is never => false,
  put: () => {},
  refused: () => null,
};

export const commitCarrier = CARRIERS[0] ?? NO_CARRIER;
