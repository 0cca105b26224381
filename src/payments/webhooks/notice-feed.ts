/**
 * Tells the host about notices without a webhook, whether this or a different process on the database commits the
 * notices. Notices are told in table order, so the notices of one transaction come in the order of its steps.
 */
import { noticeOf } from "./announce.ts";
import type { Notice, NoticeEvent } from "../frame/notices/notice-body.ts";
import { NoticedTransactionCache } from "./webhook-list.ts";
import type { Assets } from "../frame/assets/assets.ts";
import type { WebhookStorage } from "./webhook-storage.ts";
import type { NoticeRecord } from "../frame/tables/notices.ts";
import type { CommitFeed } from "../frame/module-engine.ts";
import type { Clock, Logger } from "../../core/runtime.ts";

/** A filter of notices; all given fields must match. An empty filter matches all notices. */
export interface NoticeFilter {
  readonly accountId?: string;
  readonly transactionId?: string;
  readonly events?: readonly NoticeEvent[];
}

interface NoticeFeedParts {
  readonly engine: CommitFeed;
  readonly storage: Pick<WebhookStorage, "transaction" | "noticesInSequence" | "notices" | "notice">;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly log: Logger;
}

/** Notices of other processes are found after this time at the latest. */
const LOOK_MS = 1_000;

/**
 * A row gets its place when it is written but is seen when it is committed, so a row may appear before rows that are
 * known already. Each look goes back this far behind the newest row; a commit takes milliseconds.
 */
const LOOK_BACK_MS = 5_000;

/** Rows read at once; rows before the first look are not told. */
const ROWS_AT_ONCE = 200;

/** The most notices that are remembered as told, once the looks begin behind them. */
const MAX_PAST = 10_000;

interface Subscriber {
  readonly filter: NoticeFilter;
  readonly listener: (notice: Notice) => void;
}

export class NoticeFeed {
  readonly #parts: NoticeFeedParts;
  readonly #transactions: NoticedTransactionCache;
  readonly #subscribers = new Set<Subscriber>();
  /** Notices that this process has committed and not told yet. */
  #own: NoticeRecord[] = [];
  /** Everything up to this row was looked at, for long enough; null before the first row of the table. */
  #anchor: NoticeRecord | null = null;
  /** The rows behind the anchor that were looked at, and when; null before the first look. */
  #seen: Map<string, number> | null = null;
  /**
   * Seen rows that existed at the first look. Such a row is told only when a commit of this process turns up after the
   * look.
   */
  #untold: Set<string> = new Set();
  /** The last rows that the anchor was moved over. */
  readonly #past = new Set<string>();
  #looking: Promise<void> | null = null;
  #isAskedAgain = false;
  /** Whether a look reads the notices of all transactions, or of those that this process has committed. */
  #isAskedForAll = false;
  #running: AbortController | null = null;
  #isLooping = false;

  constructor(parts: NoticeFeedParts) {
    this.#parts = parts;
    this.#transactions = new NoticedTransactionCache(parts.storage);
    parts.engine.subscribe(({ commit }) => {
      if (this.#subscribers.size === 0) return;
      const notices = (commit.writes ?? []).flatMap((write) =>
        write.table === "notices" && "insert" in write ? [write.insert as NoticeRecord] : [],
      );
      if (notices.length === 0) return;
      this.#own.push(...notices);
      void this.#look(false);
    });
  }

  /** See `PaymentService.subscribe`. */
  subscribe(filter: NoticeFilter, listener: (notice: Notice) => void): () => void {
    const subscriber = { filter, listener };
    this.#subscribers.add(subscriber);
    this.#goOn();
    return () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#pause();
    };
  }

  /** From now on other processes are listened to as well. */
  run(): void {
    this.#running ??= new AbortController();
    this.#goOn();
  }

  /** Resolves when nothing more is asked of the storage, after so long at the latest. */
  async stop(timeoutMs: number): Promise<void> {
    this.#running?.abort();
    this.#running = null;
    const enough = new AbortController();
    await Promise.race([this.settled(), this.#parts.clock.sleep(timeoutMs, enough.signal)]);
    enough.abort();
  }

  /** Resolves when all notices committed by this process were told. */
  async settled(): Promise<void> {
    while (this.#looking !== null) await this.#looking;
  }

  /** Looks every second, as long as somebody listens and the service runs. */
  #goOn(): void {
    if (this.#isLooping || this.#running === null || this.#subscribers.size === 0) return;
    this.#isLooping = true;
    void this.#lookAgainAndAgain(this.#running.signal);
  }

  async #lookAgainAndAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#subscribers.size > 0) {
      await this.#look(true);
      await this.#parts.clock.sleep(LOOK_MS, signal);
    }
    this.#isLooping = false;
    this.#goOn();
  }

  /** The next subscriber is not told of earlier notices. */
  #pause(): void {
    this.#own = [];
    this.#seen = null;
    this.#anchor = null;
  }

  /** One look at a time: requests during a look lead to one more look. */
  #look(isForAll: boolean): Promise<void> {
    this.#isAskedAgain = true;
    this.#isAskedForAll ||= isForAll;
    this.#looking ??= this.#lookWhileAsked();
    return this.#looking;
  }

  async #lookWhileAsked(): Promise<void> {
    try {
      while (this.#isAskedAgain) {
        this.#isAskedAgain = false;
        await this.#lookOnce();
      }
    } catch (err) {
      this.#parts.log.error({ err }, "notices could not be read for those who subscribed; read again");
    } finally {
      this.#looking = null;
    }
  }

  async #lookOnce(): Promise<void> {
    const own = [...this.#own];
    const seen = this.#seen;
    const isForAll = this.#isAskedForAll;
    this.#isAskedForAll = false;
    if (seen === null) await this.#begin(() => true);
    else if (isForAll || (await this.#isBehindOther(own, seen))) await this.#tellUnseen(seen);
    for (const notice of own) {
      const isTold = this.#seen?.has(notice.id) === true && !this.#untold.has(notice.id);
      if (!isTold) await this.#tell(notice);
      this.#untold.delete(notice.id);
      this.#seen?.set(notice.id, this.#parts.clock.now());
    }
    this.#own = this.#own.filter((notice) => !own.includes(notice));
  }

  /** Whether a notice of the same transactions, which a different process has committed, may have to be told before. */
  async #isBehindOther(own: readonly NoticeRecord[], seen: ReadonlyMap<string, number>): Promise<boolean> {
    const known = new Set(own.map(({ id }) => id));
    for (const transactionId of new Set(own.map((notice) => notice.transactionId))) {
      const notices = await this.#parts.storage.notices(transactionId);
      if (!notices.every(({ id }) => known.has(id) || seen.has(id) || this.#past.has(id))) return true;
    }
    return false;
  }

  /** Begins behind the newest rows; rows for which `isKnown` is true count as told. */
  async #begin(isKnown: (notice: NoticeRecord) => boolean): Promise<void> {
    const { storage, clock } = this.#parts;
    const newest = await storage.noticesInSequence({ order: "desc", beyond: null, limit: ROWS_AT_ONCE });
    const rows = newest.toReversed();
    this.#anchor = rows.length < ROWS_AT_ONCE ? null : (rows.shift() ?? null);
    const known = rows.filter(isKnown).map(({ id }) => id);
    this.#seen = new Map(known.map((id) => [id, clock.now()]));
    this.#untold = new Set(known);
  }

  async #tellUnseen(seen: Map<string, number>): Promise<void> {
    const { storage, clock } = this.#parts;
    const rows: NoticeRecord[] = [];
    for (let beyond = this.#anchor; ; beyond = rows.at(-1) ?? beyond) {
      const page = await storage.noticesInSequence({
        order: "asc",
        beyond: beyond?.id ?? null,
        limit: ROWS_AT_ONCE,
      });
      rows.push(...page);
      if (page.length < ROWS_AT_ONCE) break;
    }
    if (rows.length === 0 && (await this.#isAnchorGone())) return;
    for (const notice of rows) {
      if (seen.has(notice.id)) continue;
      seen.set(notice.id, clock.now());
      await this.#tell(notice);
    }
    this.#forget(seen, rows);
  }

  /**
   * Whether the anchor was removed as old, so that no row can be found behind it: then the newest rows are examined
   * instead.
   */
  async #isAnchorGone(): Promise<boolean> {
    const anchor = this.#anchor;
    if (anchor === null || (await this.#parts.storage.notice(anchor.id)) !== null) return false;
    await this.#begin(({ createdAt }) => createdAt <= anchor.createdAt);
    this.#isAskedAgain = true;
    return true;
  }

  /** Moves the anchor behind rows that are known for long: a row that is committed late comes after the anchor. */
  #forget(seen: Map<string, number>, rows: readonly NoticeRecord[]): void {
    const until = this.#parts.clock.now() - LOOK_BACK_MS;
    const young = rows.findIndex(({ id }) => (seen.get(id) ?? until) > until);
    const old = rows.slice(0, young === -1 ? rows.length : young);
    for (const { id } of old) {
      seen.delete(id);
      this.#untold.delete(id);
      this.#past.add(id);
    }
    for (const id of this.#past) {
      if (this.#past.size <= MAX_PAST) break;
      this.#past.delete(id);
    }
    this.#anchor = old.at(-1) ?? this.#anchor;
  }

  async #tell(notice: NoticeRecord): Promise<void> {
    const { transactionId, event } = notice;
    const fitting = [...this.#subscribers].filter(
      ({ filter }) =>
        (filter.transactionId === undefined || filter.transactionId === transactionId) &&
        (filter.events === undefined || (filter.events as readonly string[]).includes(event)),
    );
    if (fitting.length === 0) return;
    const { assets, log } = this.#parts;
    const failed = (err: unknown): void => {
      log.error({ notice: notice.id, err }, "a subscriber could not be told");
    };
    try {
      const view = await this.#transactions.read(transactionId);
      if (view === null) return;
      const { accountId } = view.transaction;
      for (const { filter, listener } of fitting) {
        if (filter.accountId !== undefined && filter.accountId !== accountId) continue;
        // An asynchronous listener is not awaited; its rejection must not end the process.
        void (async () => listener(noticeOf(notice, view, assets)))().catch(failed);
      }
    } catch (err) {
      failed(err);
    }
  }
}
