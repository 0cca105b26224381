/** Tells subscribers about events on the chain, once an event has the subscribed commitment. */
import type { Clock } from "../../core/runtime.ts";
import type { ChainState, Commitment } from "../chain-state.ts";
import type { NotedTransaction } from "../transaction-history.ts";

/** Events since the last look at a subscription. */
interface News {
  readonly chain: ChainState;
  /** The newest slot with the subscription's commitment. */
  readonly slot: number;
  /** The one of the last look. */
  readonly lastSlot: number;
  /** Transactions that reached the commitment meanwhile, oldest first. */
  readonly transactions: readonly NotedTransaction[];
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

/** How far a subscriber was notified: up to a slot, and up to a place among all transactions. */
interface Told {
  readonly slot: number;
  readonly position: number;
}

/** The subscriptions of one chain. */
export class Feed {
  readonly #chain: ChainState;
  readonly #sleep: Clock["sleep"] | undefined;
  readonly #told = new Map<FeedListener, Told>();
  #isClosed = false;
  #isLookDue = false;
  #ticking: AbortController | undefined;

  constructor(chain: ChainState, sleep: Clock["sleep"] | undefined) {
    this.#chain = chain;
    this.#sleep = sleep;
    chain.observe(() => this.#changed());
  }

  /** From now on `subscriber` is notified. Throws when slots follow a clock without `sleep`. */
  add(subscriber: FeedListener): void {
    if (this.#isClosed) throw new Error("The local chain was closed.");
    this.#tick();
    const slot = this.#chain.slotAt(subscriber.topic.commitment, this.#chain.currentSlot());
    this.#told.set(subscriber, { slot, position: this.#chain.log.lengthUpTo(slot) });
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

  /** The chain did something. Where a fork took transactions back, others may soon stand in their places. */
  #changed(): void {
    if (this.#told.size === 0) return;
    const { length } = this.#chain.log;
    for (const [subscriber, told] of this.#told) {
      if (told.position > length) this.#told.set(subscriber, { ...told, position: length });
    }
    this.#lookSoon();
  }

  /** At the end of this turn, so that the answer to a call goes out before the news that it caused. */
  #lookSoon(): void {
    if (this.#isLookDue) return;
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
      for (const [subscriber, told] of this.#told) this.#inform(subscriber, told, head);
    } catch {
      for (const subscriber of [...this.#told.keys()]) subscriber.end();
    }
  }

  #inform(subscriber: FeedListener, told: Told, head: number): void {
    const { topic } = subscriber;
    const slot = this.#chain.slotAt(topic.commitment, head);
    const transactions = this.#chain.log.from(told.position, slot);
    this.#told.set(subscriber, { slot, position: told.position + transactions.length });
    const news = { chain: this.#chain, slot, lastSlot: told.slot, transactions };
    for (const notice of topic.tell(news)) subscriber.notify(notice);
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
