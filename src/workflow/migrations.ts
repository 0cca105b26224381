/** Migrations: functions that turn an instance of one version of a chart into an instance of the next version. */
import type { AnyStateMachine, StateFrom, StateValue, StateValueFrom } from "xstate";
import type { Write } from "../../storage/storage.ts";

/** An instance as its old version left it. */
export interface PreviousInstance<Context = Readonly<Record<string, unknown>>> {
  readonly id: string;
  /** The version that this migration leads away from. */
  readonly version: number;
  readonly value: StateValue;
  readonly context: Context;
  /** When timers are due, by name, in ms since the Unix epoch: `xstate.after.<delay>.<state id>` for one of `after`. */
  readonly timers: Readonly<Record<string, number>>;
  /** The promises and child machines that run, by their ids: the names of their logics. */
  readonly children: Readonly<Record<string, string>>;
  /** The effects that have been asked for and are not done yet, by their names. */
  readonly effects: readonly string[];
  /** The time of the migration, in milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The instance under the next version. Absent fields stay unchanged, as far as the chart of that version has them. */
export interface MigratedInstance<Value = StateValue, Context = object, W = unknown> {
  readonly value?: Value;
  readonly context?: Context;
  /** When timers are due, by name, in ms since the Unix epoch. One that is not named stays, or begins now if it did not run. */
  readonly timers?: Readonly<Record<string, number>>;
  /** New ids of promises that run, by their old ids: they go on under their idempotency keys. */
  readonly children?: Readonly<Record<string, string>>;
  /** New names of effects that are not done yet, by their old names. */
  readonly effects?: Readonly<Record<string, string>>;
  /** Rows of your own tables that belong to the commit of the migration; `project` is not asked. */
  readonly writes?: readonly Write<W>[];
}

/** Turns an instance of one version into one of the next. Pure. When it throws, the instance stays unchanged. */
export type Migration<Result> = {
  // A method's parameter may be narrowed: `(before: PreviousInstance<OldContext>) => …`.
  migrate(before: PreviousInstance<object>): Result;
}["migrate"];

/** A migration with its types laid aside. */
export type AnyMigration = Migration<MigratedInstance<StateValue, object, never>>;

/** Versions that the compiler can count. */
export type CountableVersion =
  1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | 20;
/** A tuple that gives, at the index of each countable version, the version before. */
export type PreviousVersion<Before extends readonly number[] = []> = Before["length"] extends 20
  ? readonly [0, ...Before]
  : PreviousVersion<[...Before, Before["length"]]>;

/**
 * Migrations by the version that each migration starts from; each leads to the next version. The last migration returns
 * a value and a context of the present chart, and TypeScript checks them when the version is a literal up to 20.
 */
export type Migrations<M extends AnyStateMachine, W, V extends number> = V extends CountableVersion
  ? {
      readonly [K in CountableVersion]?: Migration<
        K extends PreviousVersion[V]
          ? MigratedInstance<StateValueFrom<M>, StateFrom<M>["context"], W>
          : MigratedInstance<StateValue, object, W>
      >;
    }
  : Readonly<Record<number, Migration<MigratedInstance<StateValue, object, W>>>>;

/** An instance cannot go on under a newer version of its chart. It stays as it was. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
  readonly instance: string;
  /** Where the fault is: the key of the migration (`migrate.1`), or a path in its result, such as `value.paying.card`. */
  readonly path: string;

  /** @internal */
  constructor({ instance, from, to, cause }: MigrationStep, path: string, reason: string) {
    const because = cause === undefined ? {} : { cause };
    super(`instance ${instance} cannot go on from ${from} to ${to}: ${path}: ${reason}`, because);
    this.instance = instance;
    this.path = path;
  }
}

/** A migration of an instance: its id, and both versions as `name@version`. */
export interface MigrationStep {
  readonly instance: string;
  readonly from: string;
  readonly to: string;
  /** The error that stopped the migration, if an error did. */
  readonly cause?: unknown;
}

/** Faults of `migrate`: each version must lead to the next, and the last migration to the present one. */
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
