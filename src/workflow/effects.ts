/** How a host carries out the effects of a chart. */
import type { Write } from "../../storage/storage.ts";
import type { OutcomeOptions, OutcomeRefusal } from "./carried.ts";
import type { EffectRun, StartRequest } from "./effect-run.ts";
import type { Transaction } from "./host-sql.ts";
import type { OwnLimit } from "./own-limit.ts";
import type { Retry } from "./retry.ts";

/** An effect as it may be given. */
// A line for each kind that a module brings to its end, which goes with the module.
// prettier-ignore
export type GivenEffect<Params, Event, W> =
  | Transaction<Params, Event, W>
  | Effect<Params, Event, W>
  | EffectHandler<Params, Event, W>;

/** The outcome of an effect; it is committed together with the end of its task, or not at all. */
export interface EffectOutcome<Event, W> extends OutcomeOptions {
  readonly event?: Event;
  readonly starts?: readonly StartRequest[];
  readonly writes?: readonly Write<W>[];
  /** The version of its instance from which the event was concluded: after another step nothing is committed, and it looks again. */
  readonly expectedVersion?: number;
  /**
   * The event in place of the whole outcome where the database refused a query, or an instance of `starts` is there
   * already (`kind` is `exists`); undefined makes it an error. Without this function the effect runs again at once and can
   * look again.
   */
  readonly refused?: (refusal: OutcomeRefusal) => Event | undefined;
}

/**
 * Carries out one effect, at least once. Throwing means *try again later*: the task is kept and comes back with a
 * growing pause. A business failure is an event, not an exception. When a start or a write it returns is refused,
 * because another commit came first, it runs again at once and can look again.
 */
export type EffectHandler<Params, Event, W> = (
  params: Params,
  run: EffectRun,
) => Promise<EffectOutcome<Event, W> | undefined>;

/** A step on its way into its commit, as an effect sees it that can be done within that commit. */
export interface CommittingStep<Params, W> {
  readonly instance: string;
  /** The params of the effect, once for each time that the step asks for it. */
  readonly asked: readonly Params[];
  /** Writes of the step, made by `project`. */
  readonly writes: readonly Write<W>[];
  /** Writes of the step's caller in the same commit. */
  readonly companions: readonly Write<W>[];
}

/** The part of a commit that carries out an effect within the commit of its step. */
export interface DoneWithStep<W> {
  /** Writes that replace the writes of the step. */
  readonly writes: readonly Write<W>[];
  readonly starts: readonly StartRequest[];
  /** False when the effect is not finished: then its task is armed too. */
  readonly isWhole: boolean;
}

/** A handler with more to say of its effect. */
export interface Effect<Params, Event, W> {
  readonly run: EffectHandler<Params, Event, W>;
  /** At most so many run at a time. */
  readonly limit?: OwnLimit<Params>;
  /** How it is run again after it has thrown. Default: with growing pauses, without end. */
  readonly retry?: Retry;
  /**
   * Does the effect in the commit of the step that asks for it, in place of a task and a commit of its own. The
   * function reads, and returns further parts of the commit; where what it has read has to hold in the commit, it adds
   * an expectation. When a write or a start of it is refused it is asked again, three times in all. After that, and
   * where it says null or throws, `run` does the effect as its task: the step itself never waits for it.
   */
  readonly withStep?: (step: CommittingStep<Params, W>) => Promise<DoneWithStep<W> | null>;
}
