/** Options of the actors of a chart, by the names that the chart gives them. */
import type { ActorLogic, AnyStateMachine, InputFrom, StateMachine } from "xstate";
import type { AnyMigration } from "./migrations.ts";
import type { OwnLimit } from "./own-limit.ts";

/** Options of a promise actor. */
export interface ActorOptions<Input> {
  /** Reruns of a rejected promise, with growing pauses, before `onError` is taken. Default 0; without `onError` there is no end. */
  readonly retries?: number;
  /** At most so many promises of one key run at a time, over all processes. */
  readonly limit?: OwnLimit<Input>;
}

/** Options of a child machine. */
export interface ChildOptions {
  /** Migrations of the child's instances, by version, each to the next version. Not needed for an unchanged chart. */
  readonly migrate?: Readonly<Record<number, AnyMigration>>;
}

/** The options of an actor with their types laid aside. */
export type AnyActorOptions = ActorOptions<never> & ChildOptions;

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
    ? ChildOptions
    : /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- only `any` fits all bounds of a logic */
      ActorOptions<A["logic"] extends ActorLogic<any, any, any, any, any> ? InputFrom<A["logic"]> : unknown>;
};
