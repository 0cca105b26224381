/** How a host carries out the effects of a chart: a line for each module in each list. */
import type { Write } from "../../storage/storage.ts";
import type { OutcomeOptions, OutcomeRefusal } from "./carried.ts";
import type { EffectRun, StartRequest } from "./effect-run.ts";
import type { SqlTransaction } from "./host-sql.ts";
import type { OwnLimit } from "./own-limit.ts";
import type { Retry } from "./retry.ts";
import type { WithStepOption } from "./with-step.ts";

/** An effect as it may be given. */
// A line for each kind that a module brings to its end, which goes with the module.
// prettier-ignore
export type GivenEffect<Params, Event, W> =
  | SqlTransaction<Params, Event, W>
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

/** Options of an effect that modules bring. */
// prettier-ignore
type EffectOptions<Params, W> =
  & WithStepOption<Params, W>
  & object
  & Record<never, Params | W>;

/** A handler with more to say of its effect. */
export interface Effect<Params, Event, W> extends EffectOptions<Params, W> {
  readonly run: EffectHandler<Params, Event, W>;
  /** At most so many run at a time. */
  readonly limit?: OwnLimit<Params>;
  /** How it is run again after it has thrown. Default: with growing pauses, without end. */
  readonly retry?: Retry;
}
