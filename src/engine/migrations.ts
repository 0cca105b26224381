/** How instances of one version of a chart become instances of the next: what a migration is given and what it answers. */
import type { AnyStateMachine, ContextFrom, StateValue, StateValueFrom } from "xstate";
import type { Write } from "../../storage/storage.ts";

/** An instance as its old version left it. */
export interface PreviousInstance<Context = Readonly<Record<string, unknown>>> {
  readonly id: string;
  /** The version that this migration leads away from. */
  readonly version: number;
  readonly value: StateValue;
  readonly context: Context;
  /** When each timer is due, by its name, in milliseconds since the Unix epoch. `after` names it `xstate.after.<delay>.<state id>`. */
  readonly timers: Readonly<Record<string, number>>;
  /** The promises and child machines that run, by their ids: the names of their logics. */
  readonly children: Readonly<Record<string, string>>;
  /** The effects that have been asked for and are not done yet, by their names. */
  readonly effects: readonly string[];
  /** The time of the migration, in milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The same instance under the next version. What is left out stays as it is, as far as the chart of that version has it. */
export interface MigratedInstance<Value = StateValue, Context = object, W = unknown> {
  readonly value?: Value;
  readonly context?: Context;
  /** When timers are due, by name, in ms since the Unix epoch. One that is not named stays, or begins now where it did not run. */
  readonly timers?: Readonly<Record<string, number>>;
  /** New ids of promises that run, by their old ids: they go on under their idempotency keys. */
  readonly children?: Readonly<Record<string, string>>;
  /** New names of effects that are not done yet, by their old names. */
  readonly effects?: Readonly<Record<string, string>>;
  /** Rows of your own tables that belong to the commit of the migration; `project` is not asked. */
  readonly writes?: readonly Write<W>[];
}

/** Makes an instance of one version one of the next. Pure. What it throws leaves the instance as it was. */
export type Migration<Result> = {
  // A method's parameter may be narrowed: `(before: PreviousInstance<OldContext>) => …`.
  migrate(before: PreviousInstance<object>): Result;
}["migrate"];

/** A migration with its types laid aside. */
export type AnyMigration = Migration<MigratedInstance<StateValue, object, never>>;

/** What leads to the newest version, from a version whose number the compiler does not know. */
export type AnyMigrations<W> = Readonly<Record<number, Migration<MigratedInstance<StateValue, object, W>>>>;

/** Versions that the compiler can count, and the one before each. */
export type CountableVersion =
  1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | 20;
/** At the place of each countable version the one before it. */
export type PreviousVersion<Before extends readonly number[] = []> = Before["length"] extends 20
  ? readonly [0, ...Before]
  : PreviousVersion<[...Before, Before["length"]]>;

/**
 * By the version that each leads away from, to the one after it. The last one answers a value and a context of the chart,
 * and is typed by it where the version is written as a number up to 20.
 */
export type Migrations<M extends AnyStateMachine, W, V extends number> = V extends CountableVersion
  ? {
      readonly [K in CountableVersion]?: Migration<
        K extends PreviousVersion[V]
          ? MigratedInstance<StateValueFrom<M>, ContextFrom<M>, W>
          : MigratedInstance<StateValue, object, W>
      >;
    }
  : AnyMigrations<W>;

/** An instance cannot go on under a newer version of its chart. It stays as it was. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
  readonly instance: string;
  /** Where the fault is: `migrate.1`, or a path in what it answered, such as `value.paying.card`. */
  readonly path: string;

  constructor({ instance, from, to, cause }: MigrationStep, path: string, reason: string) {
    const because = cause === undefined ? {} : { cause };
    super(`instance ${instance} cannot go on from ${from} to ${to}: ${path}: ${reason}`, because);
    this.instance = instance;
    this.path = path;
  }
}

/** Which instance goes from which version of its chart to which, as `name@version`. */
export interface MigrationStep {
  readonly instance: string;
  readonly from: string;
  readonly to: string;
  /** The error that ended it, if there was one. */
  readonly cause?: unknown;
}

/** One sentence per fault of `migrate`: each version leads to the next, and the last to the present one. */
export function migrationProblems(migrate: Readonly<Record<string, unknown>>, version: number): string[] {
  return Object.entries(migrate).flatMap(([key, migration]) => {
    const from = Number(key);
    if (!Number.isSafeInteger(from) || from < 1 || from >= version) {
      return [`migrate.${key}: expected a version below ${version}`];
    }
    if (typeof migration !== "function" && migration !== null) return [`migrate.${key}: expected a function`];
    if (from + 1 === version || String(from + 1) in migrate) return [];
    return [`migrate.${key}: it leads to version ${from + 1}, and migrate.${from + 1} is missing`];
  });
}
