/** Polls the watches of one kind in this process's shards: several looks at once, each within its time. */
import { setMaxListeners } from "node:events";
import { watchesOf, type WatchRecord } from "../../../workflow/watch-rows.ts";
import { elapsed, isTurnOver, nextTurn } from "../../../core/runtime.ts";
import type { EngineContext } from "../../kernel/engine-context.ts";
import { lookAtBatch, LookTimeoutError } from "./look-at-batch.ts";
import { LookPacer } from "./look-pacer.ts";
import { Loop } from "../../kernel/loop.ts";
import type { StepCommitAdditions } from "../../kernel/step-commit-writer.ts";
import type { SendResult } from "../../kernel/step-handler.ts";
import { KeyedQueue } from "../../kernel/keyed-queue.ts";
import { WatchShare } from "./watch-shares.ts";
import { WatchQueue } from "./watch-queue.ts";
import type { WatchStatus, WatchEvent, Watcher } from "../../watcher-options.ts";

export interface WatchLoopParts extends EngineContext {
  /** Hands an event to an instance, with the kind of the watcher that tells it, and the life of the instance that is watched for. */
  readonly send: (
    told: WatchEvent,
    by: Pick<StepCommitAdditions<never>, "cause" | "meant">,
  ) => Promise<SendResult>;
}

const DEFAULT_BATCH_SIZE = 256;
/** Watches that are listed in one go: between two parts of a listing, timers and requests get their turn. */
const LISTED_AT_ONCE = 2_000;
/** The longest time between two listings, in which watches armed by other processes are found. */
const MAX_LISTING_PAUSE_MS = 1_000;
/** Listing takes at most one part in so many of the time, however many watches there are. */
const LISTING_SHARE = 20;
/** The pause while other processes still have to give up shards. */
const SHARING_PAUSE_MS = 300;
/** While nothing of a kind is watched there is nothing to do: it is woken when something is. */
const UNWATCHED_PAUSE_MS = 3_600_000;
/** When looks fail in a row, the warning is repeated after this time. */
const WARN_AGAIN_MS = 60_000;

export class WatchKindLoop {
  readonly #kind: string;
  readonly #watcher: Watcher;
  readonly #around: WatchLoopParts;
  /** Its signal ends each look under way, too. */
  readonly #listings: Loop;
  readonly #turns: WatchQueue;
  readonly #pacer: LookPacer;
  readonly #turnsToList = new KeyedQueue();
  readonly #looks = new Set<Promise<void>>();
  /** The number of steps made so far because of looks. */
  #moves = 0;
  readonly #share: WatchShare;
  /** How many watches were looked at in a row without finding anything out. */
  #unseen = 0;
  #listAt = 0;
  #isWatched = false;
  /** Whether it is known about how many there are: the first listing may meet any number. */
  #isListed = false;
  #isClosed = false;
  #warnAt = 0;
  /** Whether all looks are asked for at once. */
  #isHurried = false;

  constructor(kind: string, watcher: Watcher, around: WatchLoopParts) {
    // At most a third of the lease, to renew the lease in time.
    const pauseMs = Math.min(MAX_LISTING_PAUSE_MS, watcher.intervalMs, Math.ceil(around.leaseMs / 3));
    this.#kind = kind;
    this.#watcher = watcher;
    this.#around = around;
    this.#turns = new WatchQueue(watcher.intervalMs);
    this.#listings = new Loop({
      ...around,
      round: () => this.#listAndRest(pauseMs),
      pauseMs: () => pauseMs,
      failure: `the watches of ${kind} could not be listed`,
    });
    const looking = { clock: around.clock, looking: this.#listings };
    this.#pacer = new LookPacer(looking, watcher.intervalMs, () => this.#fill());
    this.#share = new WatchShare(kind, around);
  }

  run(): void {
    this.#listings.run();
    // Each look under way listens, which is no leak.
    setMaxListeners(0, this.#listings.signal);
  }

  /** Tells whether watches of this kind exist. Without a watch no process needs a share of the kind. */
  follow(isWatched: boolean): void {
    // It may rest for an hour with shards in hand, where the last watch went while it renewed them.
    if (isWatched && (!this.#isWatched || this.#share.shards.length === 0)) this.#listings.wake();
    this.#isWatched = isWatched;
  }

  /** Looks at every watch, now; true when any instance moved because of it, or of a look that was under way. */
  async lookAtAll(): Promise<boolean> {
    const before = this.#moves;
    this.#isHurried = true;
    try {
      await this.#ended();
      this.#listAt = 0;
      // The loop tells why.
      await this.#list(() => true).catch(() => {});
      await this.#ended();
    } finally {
      this.#isHurried = false;
    }
    return this.#moves > before;
  }

  /**
   * No look begins any more. Waits for those under way until `patience` ends; then no event is handed over any more, and the
   * shards are given up.
   */
  async close(patience: Promise<void>): Promise<void> {
    await Promise.race([this.#listings.stop().then(() => this.#ended()), patience]);
    this.#isClosed = true;
    await this.#share.giveUp();
  }

  standing(): WatchStatus {
    return this.#turns.standing(elapsed(this.#around.clock));
  }

  async #ended(): Promise<void> {
    while (this.#looks.size > 0) await Promise.all(this.#looks);
  }

  async #listAndRest(pauseMs: number): Promise<number> {
    const { clock } = this.#around;
    const began = elapsed(clock);
    await this.#list((dueAt) => dueAt <= began);
    const sharingMs = this.#share.isWhole ? pauseMs : Math.min(pauseMs, SHARING_PAUSE_MS);
    return began + (this.#isWatched ? sharingMs : UNWATCHED_PAUSE_MS) - elapsed(clock);
  }

  /** Takes or renews shards, or gives them up, takes in their watches, and begins to look at those that are due. */
  #list(isDue: (dueAt: number) => boolean): Promise<void> {
    return this.#turnsToList.take("list", async () => {
      const { clock } = this.#around;
      const began = elapsed(clock);
      const before = this.#share.shards.join();
      if (this.#isWatched) await this.#share.renew();
      else await this.#share.giveUp();
      const { shards } = this.#share;
      if (began >= this.#listAt || shards.join() !== before) {
        const tookMs = await this.#listShards(shards, isDue);
        this.#listAt = elapsed(clock) + tookMs * LISTING_SHARE;
      }
      this.#fill();
    });
  }

  /** Takes in the watches of these shards, part by part; resolves with the milliseconds of work that took. */
  async #listShards(shards: readonly number[], isDue: (dueAt: number) => boolean): Promise<number> {
    const { storage, clock } = this.#around;
    const { isUrgent, roundMs, batchSize = DEFAULT_BATCH_SIZE } = this.#watcher;
    const urgent = isUrgent === undefined ? undefined : isUrgent.bind(this.#watcher);
    const parts = this.#isListed ? Math.max(1, Math.ceil(this.#turns.size / LISTED_AT_ONCE)) : shards.length;
    const atOnce = Math.max(1, Math.ceil(shards.length / parts));
    let tookMs = 0;
    this.#turns.beginListing();
    for (let first = 0; first < shards.length; first += atOnce) {
      if (isTurnOver()) await nextTurn();
      const began = elapsed(clock);
      const part = shards.slice(first, first + atOnce);
      const watches = await watchesOf(storage, this.#kind, part);
      this.#turns.list(watches, { now: elapsed(clock), isDue, isUrgent: urgent });
      tookMs += elapsed(clock) - began;
    }
    this.#turns.endListing();
    this.#isListed = true;
    const { size } = this.#turns;
    this.#pacer.spread(Math.ceil(size / batchSize), roundMs?.call(this.#watcher, size));
    return tookMs;
  }

  #fill(): void {
    const size = this.#watcher.batchSize ?? DEFAULT_BATCH_SIZE;
    while (this.#pacer.mayLook(this.#looks.size, this.#isHurried)) {
      const isSpread = this.#pacer.isSpread && !this.#isHurried;
      const batch = isSpread ? this.#turns.takeSpread(size) : this.#turns.take(size);
      if (batch.length === 0) return;
      this.#pacer.begun();
      const look = this.#look(batch, isSpread).then(() => {
        this.#looks.delete(look);
        this.#fill();
      });
      this.#looks.add(look);
    }
  }

  async #look(batch: readonly WatchRecord[], isSpread: boolean): Promise<void> {
    const { clock } = this.#around;
    const { signal } = this.#listings;
    const tell = (events: readonly WatchEvent[]): Promise<readonly WatchEvent[]> => this.#tell(events, batch);
    const ended = await lookAtBatch(this.#watcher, batch, { clock, signal, tell });
    this.#turns.end(ended, elapsed(clock), isSpread);
    // A process that reaches no node must not keep watches from one that does.
    this.#unseen = ended.missed.size < batch.length || ended.told.size > 0 ? 0 : this.#unseen + batch.length;
    if (this.#unseen > 0 && this.#unseen >= this.#turns.size && !signal.aborted) {
      this.#unseen = 0;
      this.#share.rest();
    }
    if (ended.error === null) this.#warnAt = 0;
    else this.#warn(ended.error, batch.length);
  }

  #warn(err: unknown, watches: number): void {
    const { clock, log } = this.#around;
    // A look that was cut off by the stop has found nothing out about the world.
    if (!this.#listings.isRunning) return;
    const isNews = err instanceof LookTimeoutError || elapsed(clock) >= this.#warnAt;
    if (isNews) this.#warnAt = elapsed(clock) + WARN_AGAIN_MS;
    const fields = { kind: this.#kind, watches, err };
    if (isNews) log.warn(fields, "a look at watches found nothing out");
    else log.debug(fields, "a look at watches found nothing out, again");
  }

  async #tell(events: readonly WatchEvent[], batch: readonly WatchRecord[]): Promise<readonly WatchEvent[]> {
    if (this.#isClosed) return events;
    const lives = new Map(batch.map(({ instance, life }) => [instance, life]));
    const taken = await Promise.all(events.map((each) => this.#handOver(each, lives.get(each.instance))));
    return events.filter((_, index) => taken[index] !== true);
  }

  /** False when the instance could not take it. */
  async #handOver(told: WatchEvent, life: string | undefined): Promise<boolean> {
    try {
      const { kind } = await this.#around.send(told, {
        cause: { watch: this.#kind },
        ...(life === undefined ? {} : { meant: { life } }),
      });
      if (kind === "stepped") this.#moves += 1;
      return kind !== "refused";
    } catch (err) {
      const { log } = this.#around;
      const fields = { kind: this.#kind, instance: told.instance, err };
      // The next look finds again whatever a stop cuts off.
      if (this.#listings.isRunning) log.warn(fields, "an instance could not be told what a look found out");
      return false;
    }
  }
}
