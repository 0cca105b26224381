/** Calls a function of the host that may take long, with a deadline on the injected clock. */
import type { Clock } from "../runtime.ts";

/** A call of a host's function. */
interface HostCall<T> {
  /** The option that the function was given as; named by the error. */
  readonly name: string;
  readonly deadlineMs: number;
  /** The call; its signal aborts at the deadline. */
  readonly call: (signal: AbortSignal) => Promise<T>;
}

/** A function of the host has not answered by its deadline. A late answer is ignored. */
export class HostSilentError extends Error {
  override readonly name = "HostSilentError";
}

/** Rejects as the function does, and with `HostSilentError` when it has not ended after `deadlineMs`. No timer is left behind. */
export async function callHost<T>(clock: Clock, { name, deadlineMs, call }: HostCall<T>): Promise<T> {
  const ended = new AbortController();
  const late = new AbortController();
  const deadline = new Promise<never>((_, reject) => {
    void clock.sleep(deadlineMs, ended.signal).then(() => {
      if (ended.signal.aborted) return;
      late.abort();
      reject(new HostSilentError(`${name} did not end within ${deadlineMs} ms`));
    });
  });
  try {
    return await Promise.race([call(late.signal), deadline]);
  } finally {
    ended.abort();
  }
}
