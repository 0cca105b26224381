/** The API as careful clients use it: with the same key and bytes until there is an answer, from whichever process. */
import { setTimeout as sleep } from "node:timers/promises";

/** An answer below 500. */
export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One request. */
export interface Asked {
  readonly method: "POST" | "GET" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

/** Of one attempt: a frozen process never answers. */
const PATIENCE_MS = 4_000;
const PAUSE_MS = 60;
/** Longer than a process is frozen. */
const OVER_MS = 8_000;
/** So long after the last death no process has answered anything but errors: something else is wrong. */
const GIVE_UP_MS = 120_000;

export class CarefulApi {
  readonly #baseUrls: () => readonly string[];
  readonly #apiKey: string;
  readonly #onAnswer: () => void;
  #turn = 0;
  #diedAt = 0;
  #lastTaken = 0;
  #forgetsUntil = 0;

  /** `onAnswer` is told of every answer, whatever it is. */
  constructor(baseUrls: () => readonly string[], apiKey: string, onAnswer: () => void) {
    this.#baseUrls = baseUrls;
    this.#apiKey = apiKey;
    this.#onAnswer = onAnswer;
  }

  /** Answers that were given before the work ends may be forgotten by then, and the same request answered anew. */
  async whileForgetting(work: () => Promise<void>): Promise<void> {
    this.#forgetsUntil = Infinity;
    await work();
    this.#forgetsUntil = performance.now();
  }

  /** When the last request was sent that was answered with 201. */
  get lastTaken(): number {
    return this.#lastTaken;
  }

  /** Counts the time limit of requests from now: a process was killed, and the others may be too busy to answer. */
  forgive(): void {
    this.#diedAt = performance.now();
  }

  /**
   * Asks one process after the other. No answer, and one of 500 or above, is unknown; so is a refusal while an earlier
   * attempt may still be carried out by a process that is only slow: it is asked once more when that one is over.
   */
  async ask(asked: Asked): Promise<Answered> {
    const { answer, unanswered } = await this.#untilAnswered(asked);
    if (answer.status < 300 || unanswered === 0) return answer;
    await sleep(OVER_MS);
    return (await this.#untilAnswered(asked)).answer;
  }

  /** The first answer, and how many attempts had none. */
  async #untilAnswered(asked: Asked): Promise<{ readonly answer: Answered; readonly unanswered: number }> {
    const began = performance.now();
    let last = "none was there";
    let unanswered = 0;
    while (performance.now() < Math.max(began, this.#diedAt) + GIVE_UP_MS) {
      const urls = this.#baseUrls();
      const url = urls[(this.#turn += 1) % Math.max(1, urls.length)];
      const answer = url === undefined ? null : await this.#once(url, asked).catch(String);
      const isAnswer = answer !== null && typeof answer !== "string";
      if (isAnswer && answer.status < 500 && answer.status !== 429) return { answer, unanswered };
      if (url !== undefined && !isAnswer) unanswered += 1;
      last = JSON.stringify(answer) ?? last;
      await sleep(PAUSE_MS);
    }
    throw new Error(`${asked.method} ${asked.path} was not answered in two minutes: ${last}`);
  }

  /** The same request twice at once: both are answered alike, unless the first answer was forgotten. */
  async askTwice(asked: Asked): Promise<Answered> {
    const began = performance.now();
    const [one, other] = await Promise.all([this.ask(asked), this.ask(asked)]);
    if (one.status < 300 && other.status < 300 && JSON.stringify(one.body) !== JSON.stringify(other.body)) {
      if (began < this.#forgetsUntil) return this.ask(asked);
      throw new Error(`I8: ${asked.path} was answered ${JSON.stringify(one)} and ${JSON.stringify(other)}`);
    }
    return one.status < 300 ? one : other;
  }

  async #once(baseUrl: string, { method, path, body, key }: Asked): Promise<Answered> {
    const sent = performance.now();
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    this.#onAnswer();
    if (response.status === 201) this.#lastTaken = Math.max(this.#lastTaken, sent);
    return { status: response.status, body: (await response.json()) as Answered["body"] };
  }
}
