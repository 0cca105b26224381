/** What modules of the engine carry out beside rows of tables, and kinds of effects: a line for each in each list. */
import type { AnyCommit, CommitResult } from "../../storage/storage.ts";
import {
  queryCarrier,
  type CompiledQuery,
  type QueriesOption,
  type QueryRefusal,
  type TransactionKind,
} from "./host-sql.ts";
import type { Writable } from "./writable.ts";

/** Parts of the outcome of an effect. */
// A line for each module, which goes with the module.
// prettier-ignore
export type OutcomeOptions =
  & QueriesOption
  & object;

/** What a commit carries out, of an outcome or of what `project` returns. */
// prettier-ignore
export type Carried = [
  CompiledQuery,
][number];

// prettier-ignore
export type CarriedRefusal = [
  QueryRefusal,
][number];

// prettier-ignore
type Kinds<Params, Event, W> =
  & TransactionKind<Params, Event, W>
  & Record<never, Params | Event | W>;

/** Effects that the module itself brings to their end. */
export type EffectKinds<Params, Event, W> = Kinds<Params, Event, W>[keyof Kinds<Params, Event, W>];

/** What a part of an outcome has to be, and the test of it. */
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
  ) => { readonly place: number | null; readonly told: CarriedRefusal } | null;
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
