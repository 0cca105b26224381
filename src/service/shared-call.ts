/**
 * A question to a slow source, asked once at a time and shared by all callers; a caller waits a limited time, so a
 * hanging question holds up nobody.
 */
import type { Clock } from "../core/runtime.ts";

/** Callers who ask while an answer is awaited share that answer. */
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
      // One turn later: a question that throws at once then ends after it was stored.
      return await Promise.resolve().then(this.#ask);
    } catch {
      return null;
    } finally {
      this.#asked = null;
    }
  }
}
