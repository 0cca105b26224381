/**
 * The moments of a cron rule in a timezone. A rule of fixed times runs a repeated time of day the first time only, and a
 * skipped one at the end of the gap; a rule with `*` or a step in its hours, minutes or seconds goes by elapsed time.
 */
import { Cron } from "croner";

export interface ScheduleRule {
  readonly cron: string;
  readonly timezone: string;
}

const MS_PER_SECOND = 1_000;

/** Whole seconds in milliseconds since the Unix epoch, always the same for a rule. */
export class Moments {
  readonly #cron: Cron;

  /** Throws for what is no rule, or no timezone. */
  constructor({ cron, timezone }: ScheduleRule) {
    // A date would be taken, too, as a rule with a single moment.
    if (cron.includes(":")) throw new TypeError('expected fields of cron, such as "0 2 * * *"');
    this.#cron = new Cron(cron, { timezone, fixedTimeRule: "no-wildcard" });
  }

  /** The first moment later than this time; null without one. */
  after(time: number): number | null {
    return this.#cron.nextRun(new Date(Math.floor(time)))?.getTime() ?? null;
  }

  /** The last moment that is not later than this time; null without one. */
  until(time: number): number | null {
    const second = Math.floor(time / MS_PER_SECOND) * MS_PER_SECOND;
    return this.#cron.previousRuns(1, new Date(second + 1))[0]?.getTime() ?? null;
  }
}
