/** Reports each durable commit to the host: calls subscribers, and writes the log actions of charts. */
import type { Logger } from "../../core/runtime.ts";
import type { CommittedStep } from "./step-commit-writer.ts";

/** A subscriber, whose return value is checked: it may be a promise that rejects. */
type Subscriber<W> = (committed: CommittedStep<W>) => unknown;

export class CommitListenerList<W> {
  readonly #log: Logger;
  readonly #subscribers = new Set<Subscriber<W>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  add(subscriber: Subscriber<W>): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** A subscriber that throws, or whose promise rejects, is logged and disturbs neither the others nor the commit. */
  tell(committed: CommittedStep<W>): void {
    for (const voice of committed.voiced) {
      if (voice.kind !== "log") continue;
      const { instance, value, label = "the chart says" } = voice;
      this.#log.info({ instance, value }, label);
    }
    const failed = (err: unknown): void => this.#log.error({ err }, "a subscriber failed");
    for (const subscriber of this.#subscribers) {
      try {
        const answer = subscriber(committed);
        if (answer instanceof Promise) answer.catch(failed);
      } catch (err) {
        failed(err);
      }
    }
  }
}
