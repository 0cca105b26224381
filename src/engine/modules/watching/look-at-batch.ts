/** A watcher looks at a batch of watches within a time limit. Events that it tells before the look fails are kept. */
import type { WatchRecord } from "../../../workflow/watch-rows.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { PollResult } from "./watch-queue.ts";
import type { PollContext, WatchEvent, Watcher } from "../../watcher-options.ts";

/** The time of one look: a new watch waits at most this long for watches before it. */
const LOOK_MS = 750;
/** Far longer than a well-behaved look takes to stop; a look that never stops would keep its watches forever. */
const GIVEN_UP_AFTER_MS = 60_000;

/** A look did not end long after its time was over. */
export class LookTimeoutError extends Error {
  override readonly name = "LookTimeoutError";
}

interface LookParts {
  readonly clock: Clock;
  /** Aborts when the polling stops. */
  readonly signal: AbortSignal;
  /** Hands events over and resolves with those that could not be. Never rejects. */
  readonly tell: (events: readonly WatchEvent[]) => Promise<readonly WatchEvent[]>;
}

interface EndedLook extends PollResult {
  readonly error: unknown;
}

/** Never rejects. */
export async function lookAtBatch(
  watcher: Watcher,
  batch: readonly WatchRecord[],
  { clock, signal, tell }: LookParts,
): Promise<EndedLook> {
  const over = new AbortController();
  const ended = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const timeIsOver = clock.sleep(LOOK_MS, ended.signal).then(end);
  const givenUp = clock.sleep(GIVEN_UP_AFTER_MS, ended.signal).then((): never => {
    throw new LookTimeoutError(`a look did not end within ${GIVEN_UP_AFTER_MS} ms and is given up`);
  });
  const told = new Set<string>();
  const missed = new Set<WatchRecord>();
  const look: PollContext = {
    signal: over.signal,
    async tell(events) {
      if (ended.signal.aborted) return events;
      const untold = new Set(await tell(events));
      for (const each of events) if (!untold.has(each)) told.add(each.instance);
      return [...untold];
    },
    missed: (watches) => watches.forEach((watch) => missed.add(watch)),
  };
  try {
    await look.tell(await Promise.race([polled(watcher, batch, look), givenUp]));
    return { batch, told, missed, isCutOff: over.signal.aborted, error: null };
  } catch (error) {
    // Nothing is known about untold watches. They wait for the next interval, since the outside may be out of order.
    return { batch, told, missed: new Set(batch), isCutOff: false, error };
  } finally {
    ended.abort();
    await timeIsOver;
    signal.removeEventListener("abort", end);
  }
}

/** An exception of a watcher becomes a rejection: the patience with it would end the process, unheard. */
async function polled(
  watcher: Watcher,
  batch: readonly WatchRecord[],
  look: PollContext,
): ReturnType<Watcher["poll"]> {
  return watcher.poll(batch, look);
}
