/** The option `search` of a workflow. */
// modules: search
import type { AnyStateMachine, StateFrom } from "xstate";

/** Search fields of a workflow: `S` are their names. */
export interface SearchOption<M extends AnyStateMachine, S extends string> {
  /**
   * Texts by which instances are found, `engine.list(orders, { where: { customer: "ada" } })`; null for an instance that is
   * not to be found by the field. They are kept in the commit of each step, and go with the instance. Pure, at most 256
   * bytes each, 16 fields. A version has the fields that it was first registered with: raise it for a new field.
   */
  readonly search?: {
    readonly [F in S]: (of: { readonly context: StateFrom<M>["context"] }) => string | null;
  };
}

/** The stored part of search fields in a snapshot. */
export interface SearchedSnapshot {
  /** The values of its search fields that are not null; the rows of the same commit say the same. */
  readonly search?: Readonly<Record<string, string>>;
}

/** The option with its types laid aside. */
export interface GivenSearch {
  readonly search?: SearchOptions;
}

/** By the name of a search field: its value in a context. */
export type SearchOptions = Readonly<Record<string, (of: { readonly context: never }) => unknown>>;

const MAX_FIELDS = 16;
const FIELD = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

export function searchProblems({
  search = {},
  keepEnded,
}: GivenSearch & { readonly keepEnded?: boolean }): string[] {
  const names = Object.keys(search);
  return [
    ...(names.length > 0 && keepEnded === false
      ? ["search: its rows would outlast an instance that goes"]
      : []),
    ...(names.length > MAX_FIELDS ? [`search: expected ${MAX_FIELDS} fields at most`] : []),
    ...names
      .filter((name) => !FIELD.test(name))
      .map((name) => `search.${name}: expected a name of up to 48 letters, digits and _, a letter first`),
    ...names
      .filter((name) => typeof search[name] !== "function")
      .map((name) => `search.${name}: expected a function of the context`),
  ];
}
