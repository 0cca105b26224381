/** A host's clock whose pauses never fail: each loop of the engine pauses by the clock, and an error would end the loop unheard. */
import { systemClock, type Clock, type Logger } from "../../core/runtime.ts";

/** The same clock. Where its `sleep` fails, the machine's timer waits instead; that is logged once. */
export function steadyClock(clock: Clock, log: Logger): Clock {
  if (clock === systemClock) return clock;
  let isTold = false;
  return {
    now: () => clock.now(),
    ...(clock.elapsed !== undefined && { elapsed: clock.elapsed.bind(clock) }),
    async sleep(ms, signal) {
      try {
        await clock.sleep(ms, signal);
      } catch (err) {
        if (!isTold) log.error({ err }, "the sleep of the clock failed: the machine's timer waits instead");
        isTold = true;
        await systemClock.sleep(ms, signal);
      }
    },
  };
}
