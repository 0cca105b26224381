/** Collects what is asked for at the same moment, and decides when it leaves. */
import type { Clock } from "../../core/runtime.ts";

// While a call is under way the next one fills up, for this long at most: a call that hangs must not hold up others.
const MAX_WAIT_MS = 10;

export interface BatchQueueParts<Question, Answer> {
  readonly clock: Clock;
  /** The room of one request; a larger question travels alone. */
  readonly capacity: number;
  /** Asks all of them; the answers in their order, each as it turned out. */
  readonly send: (questions: readonly Question[]) => Promise<readonly PromiseSettledResult<Answer>[]>;
  /** Called when it carries nothing any more. */
  readonly idle: () => void;
}

interface Passenger<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A question leaves at the end of the turn in which it was asked. While others are under way it waits until one of them
 * has arrived, the next is full, or 10 ms have passed. It never joins what has left already.
 */
export class BatchQueue<Question, Answer> {
  readonly #with: BatchQueueParts<Question, Answer>;
  #waiting: Passenger<Question, Answer>[] = [];
  #size = 0;
  #underWay = 0;
  #boarding = 0;

  constructor(carriage: BatchQueueParts<Question, Answer>) {
    this.#with = carriage;
  }

  /** Resolves with the answer to this question, which was sent after it was asked. `size` counts towards the capacity. */
  ask(question: Question, size: number): Promise<Answer> {
    if (this.#size > 0 && this.#size + size > this.#with.capacity) void this.#leave();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      this.#size += size;
      if (this.#waiting.length === 1) this.#board();
    });
  }

  #board(): void {
    const boarding = (this.#boarding += 1);
    const leave = (): void => {
      if (boarding === this.#boarding) void this.#leave();
    };
    if (this.#underWay === 0) setImmediate(leave);
    else void this.#with.clock.sleep(MAX_WAIT_MS).then(leave);
  }

  async #leave(): Promise<void> {
    const passengers = this.#waiting;
    this.#waiting = [];
    this.#size = 0;
    this.#boarding += 1;
    this.#underWay += 1;
    try {
      const answers = await this.#with.send(passengers.map(({ question }) => question));
      passengers.forEach(({ resolve, reject }, index) => {
        const answer = answers[index];
        if (answer?.status === "fulfilled") resolve(answer.value);
        else reject(answer?.reason);
      });
    } catch (error) {
      for (const { reject } of passengers) reject(error);
    } finally {
      this.#underWay -= 1;
      if (this.#waiting.length > 0) void this.#leave();
      else if (this.#underWay === 0) this.#with.idle();
    }
  }
}
