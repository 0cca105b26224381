/** Work that is done round by round, from `run` to `stop` and again. An exception in a round ends no loop. */
import { elapsed, isTurnOver, nextTurn } from "../../core/runtime.ts";
import type { EngineContext } from "./engine-context.ts";

interface LoopDeps extends Pick<EngineContext, "clock" | "log"> {
  /** Does what there is to do. Resolves with the pause before the next round, in milliseconds, where it knows one. */
  readonly round: (signal: AbortSignal) => Promise<number | void>;
  /** The pause after any other round, and after a failed round. */
  readonly pauseMs: () => number;
  /** Logged of a round that fails, and again each minute in which none succeeds. */
  readonly failure: string;
}

const TELL_AGAIN_MS = 60_000;
// Handed to every abort of a pause: a reason of its own for each would cost more than the pause.
const AWAKE = "awake";

export class Loop {
  readonly #deps: LoopDeps;
  #stopping = new AbortController();
  #ended: Promise<void> | null = null;
  #pause = new AbortController();
  #tellAt = -Infinity;
  /** Whether it was woken since its last round began. */
  isWoken = false;

  constructor(deps: LoopDeps) {
    this.#deps = deps;
    this.#stopping.abort();
  }

  /** Aborts with the next `stop`. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get isRunning(): boolean {
    return !this.signal.aborted;
  }

  /** No round begins before the one in hand at the last `stop` has ended. */
  run(firstPauseMs = 0): void {
    if (this.isRunning) return;
    this.#stopping = new AbortController();
    this.#ended = this.#goOn(firstPauseMs, this.signal, this.#ended);
  }

  /** The next round begins at once, or behind the one in hand. */
  wake(): void {
    this.isWoken = true;
    this.#pause.abort(AWAKE);
  }

  /** No round begins any more. Waits for the one in hand, and at most so long where a time is given. */
  async stop(timeoutMs?: number): Promise<void> {
    this.#stopping.abort();
    this.wake();
    if (timeoutMs === undefined) return void (await this.#ended);
    const waiting = new AbortController();
    await Promise.race([this.#ended, this.#deps.clock.sleep(timeoutMs, waiting.signal)]);
    waiting.abort();
  }

  async #goOn(firstPauseMs: number, signal: AbortSignal, before: Promise<void> | null): Promise<void> {
    if (before !== null) await before;
    this.isWoken = false;
    for (let ms = firstPauseMs; !signal.aborted; ms = await this.#round(signal)) {
      await this.#rest(ms);
      if (signal.aborted) return;
      this.isWoken = false;
    }
  }

  async #rest(ms: number): Promise<void> {
    if (ms > 0 && !this.isWoken) {
      this.#pause = new AbortController();
      await this.#deps.clock.sleep(ms, this.#pause.signal);
    } else if (isTurnOver()) await nextTurn();
  }

  async #round(signal: AbortSignal): Promise<number> {
    const { clock, log, round, pauseMs, failure } = this.#deps;
    try {
      const ms = await round(signal);
      this.#tellAt = -Infinity;
      return ms ?? pauseMs();
    } catch (err) {
      // Work that a stop cuts off has not failed.
      if (!signal.aborted && elapsed(clock) >= this.#tellAt) {
        this.#tellAt = elapsed(clock) + TELL_AGAIN_MS;
        log.error({ err }, failure);
      }
      return pauseMs();
    }
  }
}
