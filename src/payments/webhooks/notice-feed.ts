/**
 * Tells the host about notices without a webhook, whichever process on the database announces them: a cursor over the list of
 * announcements, which has the notices of one transaction in the order of its steps.
 */
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import type { Notice, NoticeEvent } from "../frame/notices/notice-body.ts";
import type { AnyWrite } from "../../../storage/storage.ts";
import type { Clock, Logger } from "../../core/runtime.ts";
import type { AnnouncementRecord } from "./tables.ts";
import type { WebhookStorage } from "./webhook-storage.ts";

/** A filter of notices; all given fields must match. An empty filter matches all notices. */
export interface NoticeFilter {
  readonly accountId?: string;
  readonly transactionId?: string;
  readonly events?: readonly NoticeEvent[];
}

interface NoticeFeedParts {
  readonly storage: Pick<WebhookStorage, "announcement" | "announcementsInSequence" | "noticesById">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Announcements of other processes are found after this time at the latest. */
const LOOK_MS = 1_000;

/**
 * A row has its place from when it is written, and is seen once it is committed: a row may appear before rows that a reader
 * has seen. A commit takes less time than this, but for one that waits for a lock: the rows of this time are read again. A
 * webhook suits a reader who must miss nothing.
 */
const REREAD_MS = 5_000;

/** A row that was told is remembered for longer than the answer to its commit takes: it is told once, however late that comes. */
const REMEMBER_MS = 60_000;

const ROWS_AT_ONCE = 1_000;

interface Subscriber {
  readonly filter: NoticeFilter;
  readonly listener: (notice: Notice) => void;
}

/** How far the list was told to those who listen. */
interface FeedPlace {
  /** No new row appears before this row; null before the first row of the table. */
  cursor: AnnouncementRecord | null;
  /** The rows behind the cursor that were seen, and when. */
  readonly seen: Map<string, number>;
}

export class NoticeFeed {
  readonly #parts: NoticeFeedParts;
  readonly #subscribers = new Set<Subscriber>();
  /** Null before the first look. */
  #place: FeedPlace | null = null;
  /** How often all have gone who listened: a look that began before must tell those nothing who came after. */
  #pauses = 0;
  /** Announced by this process since somebody listens, and not looked for yet: told wherever their rows stand. */
  readonly #heard = new Set<string>();
  /** The rows that the cursor has passed lately, and when. */
  readonly #passed = new Map<string, number>();
  #looking: Promise<void> | null = null;
  #isAskedAgain = false;
  #running: AbortController | null = null;
  #isLooping = false;

  constructor(parts: NoticeFeedParts) {
    this.#parts = parts;
  }

  /** Hears of a commit of this process. */
  hear(writes: readonly AnyWrite[]): void {
    if (this.#subscribers.size === 0) return;
    const announced = writes.flatMap((write) =>
      write.table === "announcements" && "insert" in write ? [(write.insert as AnnouncementRecord).id] : [],
    );
    if (announced.length === 0) return;
    for (const id of announced) this.#heard.add(id);
    void this.#look();
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

  /** Resolves when all notices that this process has announced were told. */
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
      await this.#look();
      await this.#parts.clock.sleep(LOOK_MS, signal);
    }
    this.#isLooping = false;
    this.#goOn();
  }

  /** The next subscriber is not told of earlier notices. */
  #pause(): void {
    this.#heard.clear();
    this.#place = null;
    this.#pauses += 1;
  }

  /** One look at a time: requests during a look lead to one more look. */
  #look(): Promise<void> {
    this.#isAskedAgain = true;
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
      // Work that a stop cuts off has not failed.
      if (this.#running === null && err instanceof StorageUnusable) return;
      this.#parts.log.error({ err }, "notices could not be read for those who subscribed; read again");
    } finally {
      this.#looking = null;
    }
  }

  async #lookOnce(): Promise<void> {
    const place = this.#place ?? (await this.#begin(({ id }) => !this.#heard.has(id)));
    if (place === null) return;
    const heard = [...this.#heard];
    const rows = await this.#rowsBehind(place.cursor);
    if (rows.length === 0 && (await this.#isCursorGone(place))) return;
    const late = await this.#lateRows(heard, rows);
    await this.#tellUnseen(place, [...late, ...rows]);
    for (const id of heard) this.#heard.delete(id);
    for (const { id } of late) {
      place.seen.delete(id);
      this.#passed.set(id, this.#parts.clock.now());
    }
    this.#moveOn(place, rows);
  }

  /** Begins behind the newest rows. Notices that `isTold` names are left out. Null where nobody waits for it any more. */
  async #begin(isTold: (row: AnnouncementRecord) => boolean): Promise<FeedPlace | null> {
    const { storage, clock } = this.#parts;
    const pauses = this.#pauses;
    const newest = { order: "desc", beyond: null, limit: ROWS_AT_ONCE } as const;
    const rows = (await storage.announcementsInSequence(newest)).toReversed();
    if (this.#pauses !== pauses) return null;
    const cursor = rows.length < ROWS_AT_ONCE ? null : (rows.shift() ?? null);
    this.#place = { cursor, seen: new Map(rows.filter(isTold).map(({ id }) => [id, clock.now()])) };
    return this.#place;
  }

  async #rowsBehind(cursor: AnnouncementRecord | null): Promise<readonly AnnouncementRecord[]> {
    const rows: AnnouncementRecord[] = [];
    for (;;) {
      const beyond = rows.at(-1)?.id ?? cursor?.id ?? null;
      const next = { order: "asc", beyond, limit: ROWS_AT_ONCE } as const;
      const page = await this.#parts.storage.announcementsInSequence(next);
      rows.push(...page);
      if (page.length < ROWS_AT_ONCE) return rows;
    }
  }

  /** Rows of this process that came up before the cursor, such as those of a commit that has waited for a lock. */
  async #lateRows(
    heard: readonly string[],
    rows: readonly AnnouncementRecord[],
  ): Promise<readonly AnnouncementRecord[]> {
    const behind = new Set(rows.map(({ id }) => id));
    const missing = heard.filter((id) => !behind.has(id) && !this.#passed.has(id));
    const found = await Promise.all(missing.map((id) => this.#parts.storage.announcement(id)));
    return found.filter((row) => row !== null);
  }

  /** Whether its row was removed as old, so that no row is found behind it: then the next look begins at the newest rows. */
  async #isCursorGone(place: FeedPlace): Promise<boolean> {
    const { cursor, seen } = place;
    if (cursor === null || (await this.#parts.storage.announcement(cursor.id)) !== null) return false;
    if (this.#place !== place) return true;
    await this.#begin(({ id, at }) => at <= cursor.at || seen.has(id));
    this.#isAskedAgain = true;
    return true;
  }

  #moveOn(place: FeedPlace, rows: readonly AnnouncementRecord[]): void {
    const { seen } = place;
    const now = this.#parts.clock.now();
    // Where the clock was set back, the rows behind the cursor would be read again for as long.
    for (const [id, at] of seen) if (at > now) seen.set(id, now);
    for (const row of rows) {
      if ((seen.get(row.id) ?? now) > now - REREAD_MS) break;
      seen.delete(row.id);
      this.#passed.set(row.id, now);
      place.cursor = row;
    }
    for (const [id, at] of this.#passed) if (Math.abs(now - at) >= REMEMBER_MS) this.#passed.delete(id);
  }

  async #tellUnseen(place: FeedPlace, rows: readonly AnnouncementRecord[]): Promise<void> {
    const { seen } = place;
    const unseen = rows.filter(({ id }) => !seen.has(id));
    if (unseen.length === 0) return;
    const { storage, clock, log } = this.#parts;
    const notices = await storage.noticesById(unseen.map(({ id }) => id));
    if (this.#place !== place) return;
    const bodies = new Map(notices.map(({ id, body }) => [id, body]));
    for (const { id, accountId } of unseen) {
      seen.set(id, clock.now());
      const body = bodies.get(id) ?? null;
      if (body === null) continue;
      const told = JSON.parse(body) as Omit<Notice, "timestamp"> & { readonly timestamp: string };
      const notice: Notice = { ...told, timestamp: Date.parse(told.timestamp) };
      for (const { filter, listener } of this.#subscribers) {
        if (!fits(filter, accountId, notice)) continue;
        // An asynchronous listener is not awaited; its rejection must not end the process.
        void (async () => listener(notice))().catch((err: unknown) => {
          log.error({ notice: id, err }, "a subscriber could not be told");
        });
      }
    }
  }
}

function fits(filter: NoticeFilter, account: string, { transactionId, event }: Notice): boolean {
  return (
    (filter.accountId ?? account) === account &&
    (filter.transactionId ?? transactionId) === transactionId &&
    (filter.events?.includes(event) ?? true)
  );
}
