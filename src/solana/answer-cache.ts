/** Caches answers that do not depend on the caller: concurrent callers share one question. */
import type { Clock } from "../core/runtime.ts";

/**
 * The answer under `key`, not older than `ms`; `question` is asked only without such an answer. A failure is not kept.
 */
export type AnswerCache = <T>(key: string, ms: number, question: () => Promise<T>) => Promise<T>;

/** Asks again each time, where a remembered answer has just proved wrong. */
export const askAnew: AnswerCache = (_key, _ms, question) => question();

// Rents of a few lengths, fees of a few shapes and one blockhash are asked for again and again; what is asked for once
// must not pile up.
const MAX_REMEMBERED = 1_000;

interface Memory {
  readonly answer: Promise<unknown>;
  /** The time of the question, in Unix milliseconds: no answer is older than its question. */
  readonly askedAt: number;
}

/** Remembers nothing yet, and nothing any more once `closed`: a question then fails because no endpoint can be asked. */
export function rememberAnswers(clock: Clock, closed: AbortSignal): AnswerCache {
  const memories = new Map<string, Memory>();
  return <T>(key: string, ms: number, question: () => Promise<T>): Promise<T> => {
    if (closed.aborted) return question();
    const now = clock.now();
    const known = memories.get(key);
    // A clock that was set back must not keep a blockhash for the hour it lost. A key always stands for the same
    // question, so the answer has the question's type.
    if (known !== undefined && Math.abs(now - known.askedAt) < ms) return known.answer as Promise<T>;
    const answer = question();
    memories.delete(key);
    memories.set(key, { answer, askedAt: now });
    answer.catch(() => {
      if (memories.get(key)?.answer === answer) memories.delete(key);
    });
    const [oldest] = memories.keys();
    if (memories.size > MAX_REMEMBERED && oldest !== undefined) memories.delete(oldest);
    return answer;
  };
}
