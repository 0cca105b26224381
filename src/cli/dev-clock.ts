/** The clock of a `paystate dev`: that of the machine, and ahead of it by as much as its developer has let pass. */
import { elapsed, systemClock, type Clock } from "../core/runtime.ts";

/** A clock that is only ever turned ahead, for chain and service alike. */
export class DevClock implements Clock {
  readonly #keep: (aheadMs: number) => void;
  #aheadMs: number;

  /** As far ahead as `keep` was told at last: the blocks of that time are in the chain. */
  constructor(
    { aheadMs = 0 }: { readonly aheadMs?: number | undefined },
    keep: (aheadMs: number) => void = () => {},
  ) {
    this.#aheadMs = aheadMs;
    this.#keep = keep;
  }

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  /** Time that was let pass has passed: the clock was not set. */
  readonly elapsed = (): number => elapsed(systemClock) + this.#aheadMs;

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }

  /** Lets so many milliseconds pass at once. A sleeper goes on sleeping, and finds that it is later. */
  pass(ms: number): void {
    this.#keep(this.#aheadMs + ms);
    this.#aheadMs += ms;
  }
}
