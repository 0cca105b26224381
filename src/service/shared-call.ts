/** A question that is asked once at a time, however many want its answer: one that hangs is not joined by others. */
import type { Clock } from "../runtime.ts";

/** Joins those who ask while an answer is awaited. */
export class SharedCall<T> {
  readonly #ask: () => Promise<T>;
  #asked: Promise<T | null> | null = null;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** The answer; null when it fails, or takes longer than this. */
  async answerWithin(clock: Clock, ms: number): Promise<T | null> {
    this.#asked ??= this.#begin();
    const patience = new AbortController();
    const passed = clock.sleep(ms, patience.signal).then(() => null);
    const answer = await Promise.race([this.#asked, passed]);
    patience.abort();
    return answer;
  }

  async #begin(): Promise<T | null> {
    try {
      // A turn later, so that what is thrown at once ends the question after it has begun.
      return await Promise.resolve().then(this.#ask);
    } catch {
      return null;
    } finally {
      this.#asked = null;
    }
  }
}
