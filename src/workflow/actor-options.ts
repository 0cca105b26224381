/** Options of the actors of a chart, by the names that the chart gives them. */
import type { ActorLogic, AnyStateMachine, InputFrom, StateMachine } from "xstate";
import type { AnyMigration } from "./migrations.ts";
import { limitProblems, type OwnLimit } from "./own-limit.ts";
import { retryProblems, type Retry } from "./retry.ts";

/** Options of a promise actor. */
export interface ActorOptions<Input> {
  /** How a rejected promise is run again before `onError` is told. Default: it is told at once; without `onError` there is no end. */
  readonly retry?: Retry;
  /** At most so many promises of one key run at a time, over all processes. */
  readonly limit?: OwnLimit<Input>;
}

/** Options of a child machine, beside those of its own actors. */
export interface ChildOptions {
  /** Migrations of the child's instances, by version, each to the next version. Not needed for an unchanged chart. */
  readonly migrate?: Readonly<Record<number, AnyMigration>>;
}

/** The options of an actor with their types laid aside. */
export interface AnyActorOptions extends ActorOptions<never>, ChildOptions {
  readonly actors?: Readonly<Record<string, AnyActorOptions>>;
}

const FIELDS = {
  promise: ["retry", "limit"],
  machine: ["migrate", "actors"],
} as const satisfies Record<string, readonly (keyof AnyActorOptions)[]>;

/** Faults in the options of an actor of this kind. `versions` are those that the chart around it is migrated from. */
export function actorProblems(
  kind: keyof typeof FIELDS | undefined,
  options: AnyActorOptions,
  versions: readonly string[],
): string[] {
  if (kind === undefined) return [": the chart has no such actor"];
  const fields: readonly string[] = FIELDS[kind];
  const unknown = Object.keys(options).filter((field) => !fields.includes(field));
  const unmigrated = Object.keys(options.migrate ?? {}).filter((version) => !versions.includes(version));
  return [
    ...unknown.map((field) => `.${field}: not known: a ${kind} takes ${fields.join(" and ")}`),
    ...[...limitProblems(options.limit), ...retryProblems(options.retry)].map((problem) => `.${problem}`),
    ...(kind === "machine" ? unmigrated : []).map(
      (version) => `.migrate.${version}: the chart itself is not migrated from version ${version}`,
    ),
  ];
}

/** The union of the actors that a machine names in `setup({ actors })`. */
export type ActorOf<M extends AnyStateMachine> =
  /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- only `any` fits the bounds of the other type parameters */
  M extends StateMachine<any, any, any, infer A, any, any, any, any, any, any, any, any, any, any>
    ? A extends { readonly src: string; readonly logic: unknown }
      ? A
      : never
    : never;

/** Options by actor name, with inputs typed from the actors' logics. */
export type ActorsOf<M extends AnyStateMachine> = {
  readonly [A in ActorOf<M> as A["src"]]?: A["logic"] extends AnyStateMachine
    ? ChildOptions & {
        /** Options of the child's own actors, and so on: `{ line: { actors: { book: { retry: { atMost: 3 } } } } }`. */
        readonly actors?: ActorsOf<A["logic"]>;
      }
    : /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- only `any` fits all bounds of a logic */
      ActorOptions<A["logic"] extends ActorLogic<any, any, any, any, any> ? InputFrom<A["logic"]> : unknown>;
};
