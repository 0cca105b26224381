/** Tells the log once a minute how far a reconciliation is. */
import { type Clock, elapsed, type Logger } from "../../core/runtime.ts";

const TELL_EVERY_MS = 60_000;

/** The records that were examined so far. */
interface ReconciliationProgress {
  readonly addresses?: number;
  readonly transactions?: number;
}

export type TellProgress = (progress: ReconciliationProgress) => void;

export function toldEachMinute({
  clock,
  log,
}: {
  readonly clock: Clock;
  readonly log: Logger;
}): TellProgress {
  let toldAt = elapsed(clock);
  return (progress) => {
    if (elapsed(clock) - toldAt < TELL_EVERY_MS) return;
    toldAt = elapsed(clock);
    log.info({ ...progress }, "the database is being reconciled with the chain");
  };
}
