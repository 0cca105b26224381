/** After the storage's clock was set back: what waits by a delay waits no longer than that, from then on. */
import { elapsed } from "../runtime.ts";
import type { EngineProcess } from "./engine-process.ts";

/** How often this process looks at its own clock, and how often at that of the storage, which may be another one. */
const LOOK_EVERY_MS = 5_000;
const ASK_EVERY_MS = 60_000;
/** When half of it is over the lease is given anew, and tells by when: a clock that is before that was set back. */
const LEASE_MS = 600_000;

/**
 * Until the signal aborts. The lease is never given up, so that it is there for a process that begins after the clock was set
 * back. The storage gives it to one process, once all tasks are moved.
 */
export async function followClock(
  { storage, clock, log, holder }: EngineProcess,
  signal: AbortSignal,
  onMoved: () => void,
): Promise<void> {
  let askedAt = -Infinity;
  let ahead = -Infinity;
  while (!signal.aborted) {
    const now = clock.now();
    const isBack = now - elapsed(clock) < ahead - LOOK_EVERY_MS;
    ahead = now - elapsed(clock);
    if (isBack || elapsed(clock) - askedAt >= ASK_EVERY_MS) {
      askedAt = elapsed(clock);
      const asked = { names: ["clock"], holder, now, leaseMs: LEASE_MS, movesTasks: true };
      // A storage that cannot be read is logged by the loop that claims.
      const [{ setBackMs } = {}] = await storage.lease(asked).catch(() => []);
      if (setBackMs !== undefined) {
        log.warn({ setBackMs }, "the clock was set back: the delays and leases of tasks count from now on");
        onMoved();
      }
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
