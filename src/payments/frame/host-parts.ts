/** Asks the host's parts that money waits for (signers, prices, screening), and knows which of them do not answer. */
import { elapsed, type Clock } from "../../core/runtime.ts";

/**
 * Asks a part by its name. Rejects as it does, and when it does not answer. The signal of the call is aborted when the answer
 * is not waited for any more. `deadline` is that of this answer, in milliseconds: a number can only shorten the deadline of
 * all parts; `exactly` replaces it.
 */
export type AskPart = <T>(
  part: string,
  call: (signal: AbortSignal) => Promise<T>,
  deadline?: number | { readonly exactly: number },
) => Promise<T>;

/** A part that does not answer. */
export interface SilentPart {
  readonly part: string;
  /** The time of the first unanswered call, in milliseconds since the Unix epoch. */
  readonly since: number;
}

export const PART_DEADLINE_MS = 10_000;
/** Open calls of one part at once: fewer than the slots of a worker, since other orders need slots too. */
const MOST_OPEN = 16;
/** The time that a further call waits for its turn before the call is refused and its worker slot is freed. */
const TURN_MS = 2_000;
/** A part that does not answer is asked again after this pause, by one call. */
const PAUSE_MS = 5_000;

interface HostPartStatus {
  open: number;
  silentSince: number | null;
  /** The time when a call last met the silence of the part. */
  metAt: number;
  answeredAt: number | null;
  readonly turns: Set<() => void>;
}

/**
 * Calls the host's parts with a deadline. While a part is silent, only one call at a time asks the part, with pauses;
 * further calls are refused at once, and free their slots. An error counts as an answer. An answer after the deadline
 * ends the silence; the caller may keep it.
 */
export class HostParts {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #parts = new Map<string, HostPartStatus>();

  constructor(clock: Clock, deadlineMs: number) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
  }

  /** Parts that do not answer now. */
  silent(): readonly SilentPart[] {
    return [...this.#parts].flatMap(([part, { silentSince: since }]) =>
      since === null ? [] : [{ part, since }],
    );
  }

  /** Whether a call that was made later than `at` was answered. */
  hasAnsweredSince(part: string, at: number): boolean {
    return (this.#parts.get(part)?.answeredAt ?? -Infinity) > at;
  }

  readonly ask: AskPart = async (part, call, deadline = this.#deadlineMs) => {
    const standing = this.#standingOf(part);
    if (!this.#takesTurn(standing)) await this.#turn(part, standing);
    const begunAt = this.#clock.now();
    const answer = (signal: AbortSignal): ReturnType<typeof call> => {
      const asked = (async () => call(signal))();
      const ends = (): void => this.#answered(standing, begunAt);
      asked.then(ends, ends);
      return asked;
    };
    try {
      const deadlineMs =
        typeof deadline === "number" ? Math.min(deadline, this.#deadlineMs) : deadline.exactly;
      return await callHost(this.#clock, { name: part, deadlineMs, call: answer });
    } catch (error) {
      if (error instanceof HostSilentError) {
        standing.silentSince ??= begunAt;
        standing.metAt = elapsed(this.#clock);
      }
      throw error;
    } finally {
      standing.open -= 1;
      for (const wake of standing.turns) wake();
    }
  };

  #answered(standing: HostPartStatus, begunAt: number): void {
    standing.answeredAt = Math.max(standing.answeredAt ?? begunAt, begunAt);
    standing.silentSince = null;
  }

  /** Opens a call where one more may be open. */
  #takesTurn(standing: HostPartStatus): boolean {
    const { open, silentSince, metAt } = standing;
    const mayAsk =
      silentSince === null ? open < MOST_OPEN : open === 0 && elapsed(this.#clock) - metAt >= PAUSE_MS;
    if (mayAsk) standing.open += 1;
    return mayAsk;
  }

  /** Waits for one of the open calls to end. For a silent part without an open call, the pause is waited for. */
  async #turn(part: string, standing: HostPartStatus): Promise<void> {
    const until = elapsed(this.#clock) + TURN_MS;
    while (!this.#takesTurn(standing)) {
      const left = until - elapsed(this.#clock);
      if (left <= 0 || standing.open === 0) throw new HostSilentError(`${part} has not answered others yet`);
      const waiting = new AbortController();
      const wake = (): void => waiting.abort();
      standing.turns.add(wake);
      await this.#clock.sleep(left, waiting.signal);
      standing.turns.delete(wake);
    }
  }

  #standingOf(part: string): HostPartStatus {
    const known = this.#parts.get(part);
    if (known !== undefined) return known;
    const made: HostPartStatus = { open: 0, silentSince: null, metAt: 0, answeredAt: null, turns: new Set() };
    this.#parts.set(part, made);
    return made;
  }
}

interface HostCall<T> {
  /** The option that the function was given as; named by the error. */
  readonly name: string;
  readonly deadlineMs: number;
  /** The call; its signal aborts at the deadline. */
  readonly call: (signal: AbortSignal) => Promise<T>;
}

/** A function of the host has not answered by its deadline. A late answer is ignored. */
class HostSilentError extends Error {
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
