/** Calls a function of the host that may take long, with a deadline on the injected clock. */
import type { Clock } from "../../runtime.ts";

/** One call of a host's function. */
export interface HostCall {
  /** The option that the function was given as; named by the error. */
  readonly name: string;
  readonly deadlineMs: number;
  readonly call: () => Promise<void>;
}

/** Rejects as the function does, and when it has not ended after `deadlineMs`. No timer is left behind. */
export async function callHost(clock: Clock, { name, deadlineMs, call }: HostCall): Promise<void> {
  const ended = new AbortController();
  const deadline = clock.sleep(deadlineMs, ended.signal).then((): void => {
    if (!ended.signal.aborted) throw new Error(`${name} did not end within ${deadlineMs} ms`);
  });
  try {
    await Promise.race([call(), deadline]);
  } finally {
    ended.abort();
  }
}
