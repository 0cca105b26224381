/** Tells subscribers about events on the chain, once an event has the subscribed commitment. */
import type { Clock } from "../../core/runtime.ts";
import type { ChainState, Commitment } from "../chain-state.ts";

/** Events since the last look at a subscription. */
interface News {
  readonly chain: ChainState;
  /** The newest slot with the subscription's commitment. */
  readonly slot: number;
  /** The one of the last look. */
  readonly lastSlot: number;
}

/** A message to a subscriber; the last message ends the subscription. */
export interface Notice {
  readonly result: unknown;
  readonly isLast?: true;
}

/** The topic of a subscription. */
export interface Topic {
  /** The method name of its messages. */
  readonly notification: string;
  readonly commitment: Commitment;
  /** Picks what the subscriber is to hear. */
  tell(news: News): readonly Notice[];
}

/** A subscriber of one topic. */
export interface FeedListener {
  readonly topic: Topic;
  notify(notice: Notice): void;
  /** The node is not able to tell any more. */
  end(): void;
}

/** The subscriptions of one chain. */
export class Feed {
  readonly #chain: ChainState;
  readonly #sleep: Clock["sleep"] | undefined;
  /** The slot up to which each subscriber was notified. */
  readonly #told = new Map<FeedListener, number>();
  #isClosed = false;
  #isLookDue = false;
  #ticking: AbortController | undefined;

  constructor(chain: ChainState, sleep: Clock["sleep"] | undefined) {
    this.#chain = chain;
    this.#sleep = sleep;
    chain.observe(() => this.#lookSoon());
  }

  /** From now on `subscriber` is notified. Throws when slots follow a clock without `sleep`. */
  add(subscriber: FeedListener): void {
    if (this.#isClosed) throw new Error("The local chain was closed.");
    this.#tick();
    this.#told.set(subscriber, this.#chain.slotAt(subscriber.topic.commitment, this.#chain.currentSlot()));
    // A signature may have landed already.
    this.#lookSoon();
  }

  /** `subscriber` hears nothing more. */
  remove(subscriber: FeedListener): void {
    this.#told.delete(subscriber);
    if (this.#told.size > 0) return;
    this.#ticking?.abort();
    this.#ticking = undefined;
  }

  /** Ends all notifications: the chain is closed. */
  close(): void {
    this.#isClosed = true;
    for (const subscriber of [...this.#told.keys()]) this.remove(subscriber);
  }

  /** At the end of this turn, so that the answer to a call goes out before the news that it caused. */
  #lookSoon(): void {
    if (this.#isLookDue || this.#told.size === 0) return;
    this.#isLookDue = true;
    setImmediate(() => {
      this.#isLookDue = false;
      this.#look();
    });
  }

  #look(): void {
    // Asking for the slot may write to the journal, which is closed when the last subscriber is gone.
    if (this.#told.size === 0) return;
    try {
      const head = this.#chain.currentSlot();
      for (const [subscriber, lastSlot] of this.#told) this.#inform(subscriber, lastSlot, head);
    } catch {
      for (const subscriber of [...this.#told.keys()]) subscriber.end();
    }
  }

  #inform(subscriber: FeedListener, lastSlot: number, head: number): void {
    const { topic } = subscriber;
    const slot = this.#chain.slotAt(topic.commitment, head);
    this.#told.set(subscriber, slot);
    for (const notice of topic.tell({ chain: this.#chain, slot, lastSlot })) subscriber.notify(notice);
  }

  /** With slots that follow the clock, the chain has to look at the clock as long as it has subscribers. */
  #tick(): void {
    const { slotMs } = this.#chain;
    if (slotMs === 0 || this.#ticking !== undefined) return;
    const sleep = this.#sleep;
    if (sleep === undefined) {
      throw new Error("Subscriptions need a clock with `sleep` while slots follow it.");
    }
    const { signal } = (this.#ticking = new AbortController());
    const watch = async (): Promise<void> => {
      for (;;) {
        await sleep(slotMs, signal);
        if (signal.aborted) return;
        this.#look();
      }
    };
    void watch();
  }
}
