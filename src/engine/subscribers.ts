/** Tells the host of each durable commit: its subscribers, and on the log what its charts have logged. */
import type { Logger } from "../runtime.ts";
import type { CommittedStep } from "./steps.ts";

type Subscriber<W> = (committed: CommittedStep<W>) => void;

export class Subscribers<W> {
  readonly #log: Logger;
  readonly #subscribers = new Set<Subscriber<W>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Returns the way to stop. */
  add(subscriber: Subscriber<W>): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** A subscriber that throws is logged and disturbs neither the others nor the commit. */
  tell(committed: CommittedStep<W>): void {
    for (const voice of committed.voiced) {
      if (voice.kind !== "log") continue;
      const { instance, value, label = "the chart says" } = voice;
      this.#log.info({ instance, value }, label);
    }
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(committed);
      } catch (err) {
        this.#log.error({ err }, "a subscriber threw");
      }
    }
  }
}
