/** A watched page: made once for all its viewers, and kept fresh while anybody watches. */
import type { Clock } from "../../core/runtime.ts";

/** A page at one moment. Equal pages have equal tags. */
export interface MadePage {
  readonly tag: string;
  /** The content of the frame, as HTML. */
  readonly main: string;
}

/** Gets each state of a page that differs from the state before. */
type PageListener = (page: MadePage) => void;

/** Dependencies of watched pages. */
export interface WatchedPageParts {
  readonly make: () => Promise<MadePage>;
  /** Calls back after commits of this process. Commits of other processes are polled for. */
  readonly onCommit: (listener: () => void) => () => void;
  readonly pace: Clock;
  /** Told why a page could not be made, once until it can be made again; it is tried again. */
  readonly onError: (error: unknown) => void;
}

/** A person notices nothing shorter than 100 ms. */
const LOOK_EVERY_MS = 50;
/** Between two looks while commits of this process rain down. */
const MIN_PAUSE_MS = 20;
/** After a page could not be made: a storage that is gone is not asked twenty times a second. */
const PAUSE_AFTER_ERROR_MS = 1_000;
/** A page that takes long to make is made less often: at most half of a core is spent on it. */
const PAUSE_PER_WORK = 1;

export class WatchedPage {
  readonly #parts: WatchedPageParts;
  readonly #listeners = new Set<PageListener>();
  readonly #alarm: AlarmPause;
  #last: MadePage | null = null;
  #isFollowed = false;

  constructor(parts: WatchedPageParts) {
    this.#parts = parts;
    this.#alarm = new AlarmPause(parts.pace);
  }

  /** Whether any viewer watches. */
  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  /**
   * Tells the listener of the current page, unless its tag matches, and of every later page. Returns the function that
   * stops.
   */
  watch(listener: PageListener, tag: string | null): () => void {
    let shown = tag;
    const tell: PageListener = (page) => {
      if (page.tag === shown) return;
      shown = page.tag;
      listener(page);
    };
    this.#listeners.add(tell);
    if (this.#last !== null && this.#isFollowed) tell(this.#last);
    if (!this.#isFollowed) void this.#follow();
    return () => {
      this.#listeners.delete(tell);
      if (!this.isWatched) this.#alarm.ring();
    };
  }

  async #follow(): Promise<void> {
    const { make, onCommit, onError, pace } = this.#parts;
    this.#isFollowed = true;
    const stop = onCommit(() => this.#alarm.ring());
    let hasFailed = false;
    while (this.isWatched) {
      const began = pace.now();
      try {
        this.#last = await make();
        hasFailed = false;
        for (const tell of this.#listeners) tell(this.#last);
      } catch (error) {
        // An error after the last viewer has left concerns nobody.
        if (this.isWatched && !hasFailed) onError(error);
        hasFailed = true;
      }
      const least = hasFailed ? PAUSE_AFTER_ERROR_MS : MIN_PAUSE_MS;
      const rest = Math.max(least, PAUSE_PER_WORK * (pace.now() - began));
      await this.#alarm.rest(rest);
      if (this.isWatched) await this.#alarm.wait(Math.max(0, LOOK_EVERY_MS - rest));
    }
    stop();
    this.#isFollowed = false;
  }
}

/** A pause that ends early when the alarm is rung; rung while nobody waits, the next wait is over at once. */
class AlarmPause {
  readonly #clock: Clock;
  #isRung = false;
  #wake: AbortController | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake?.abort();
  }

  /** Resolves after `ms`, however often it is rung meanwhile. */
  rest(ms: number): Promise<void> {
    return this.#clock.sleep(ms);
  }

  /** Resolves after `ms`, or when it is rung, or at once when it was since the last wait. */
  async wait(ms: number): Promise<void> {
    if (!this.#isRung && ms > 0) {
      this.#wake = new AbortController();
      await this.#clock.sleep(ms, this.#wake.signal);
      this.#wake = null;
    }
    this.#isRung = false;
  }
}
