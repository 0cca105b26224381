/** The option `watches` of a workflow, and what a snapshot says of it. */
// modules: watching
import type { AnyStateMachine, StateFrom } from "xstate";

export interface WatchOption<M extends AnyStateMachine> {
  /** For each watch kind named in a state's `meta.watches`: what to watch for this instance. */
  readonly watches?: Readonly<Record<string, (context: StateFrom<M>["context"]) => string>>;
}

/** The stored part of watches in a snapshot. */
export interface WatchedSnapshot {
  /** The subjects that are watched for the instance, by kind; the rows of the same commit say the same. */
  readonly watched?: Readonly<Record<string, string>>;
}

/** The option with its types laid aside. */
export interface GivenWatches {
  readonly watches?: Readonly<Record<string, (context: never) => string>>;
}

/** A watch of an instance. */
export interface WatchedKey {
  readonly kind: string;
  /** The watched thing, such as a signature. */
  readonly key: string;
}

/** The part of watching in why an instance waits. */
export interface WatchedWork {
  /** By kind. */
  readonly watches: readonly WatchedKey[];
}

type Meta = Readonly<Record<string, unknown>>;

/** The kinds that states ask to be watched, by their `meta.watches`. */
export const kindsIn = (metas: readonly Meta[]): readonly string[] =>
  metas.flatMap(({ watches }) => (Array.isArray(watches) ? (watches as readonly string[]) : []));

export function watchProblems({ watches = {} }: GivenWatches, metas: readonly Meta[]): string[] {
  return [
    ...[...new Set(kindsIn(metas))]
      .filter((kind) => watches[kind] === undefined)
      .map((kind) => `watches.${kind}: a state arms it, no key given`),
    ...Object.keys(watches)
      .filter((kind) => kind.includes("/"))
      .map((kind) => `watches.${kind}: expected a name without /`),
  ];
}

export const watchedIn = ({ watched = {} }: WatchedSnapshot): readonly WatchedKey[] =>
  Object.entries(watched)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, key]) => ({ kind, key }));
