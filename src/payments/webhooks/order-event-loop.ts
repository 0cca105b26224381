/** Tells the events of orders beside their status, behind the commits that made them. */
import type { TransactionView } from "../frame/tables/orders.ts";
import type { WebhookWrite, WebhookTables } from "./webhook-storage.ts";
import { groupedBy } from "../frame/tables/read.ts";
import type { NoticeRecord, UntoldEventRecord } from "../frame/tables/notices.ts";
import type { AnyWrite } from "../../../storage/storage.ts";
import type { ModuleEngine } from "../frame/module-engine.ts";
import type { Logger } from "../../core/runtime.ts";
import { plainEventNotice, type EventNotice } from "../frame/notices/notice-writes.ts";
import { announce, announcements, type AnnounceParts } from "./announce.ts";
import { readWebhookList } from "./webhook-list.ts";

interface OrderEventParts extends AnnounceParts {
  readonly engine: () => Pick<ModuleEngine<WebhookTables>, "commit">;
  readonly log: Logger;
  /** Modules make the notices of the events that they note. */
  readonly eventNotices: (transactionId: string) => Promise<readonly EventNotice[]>;
}

/** A transaction with what was told of it before, and what makes notices of its events. */
interface ToldTransaction extends TransactionView {
  readonly told: readonly NoticeRecord[];
  readonly noticesOf: readonly EventNotice[];
}

/** Events of commits that this process does not hear of are found after this time at the latest. */
const LOOK_MS = 5_000;
const ROWS_AT_ONCE = 200;

export class OrderEventLoop {
  readonly #parts: OrderEventParts;
  #running: AbortController | null = null;
  #looking: Promise<void> | null = null;
  #isAskedAgain = false;

  constructor(parts: OrderEventParts) {
    this.#parts = parts;
  }

  /** Hears of a commit of this process. */
  hear(writes: readonly AnyWrite[]): void {
    const isUntold = writes.some((write) => write.table === "untoldEvents" && "insert" in write);
    if (isUntold && this.#running !== null) void this.#look(this.#running.signal);
  }

  /** Looks now, behind each commit of this process, and every five seconds, until `stop`. */
  run(): void {
    if (this.#running !== null) return;
    this.#running = new AbortController();
    void this.#keepLooking(this.#running.signal);
  }

  /** Begins no look any more, and waits for the one in hand. */
  async stop(): Promise<void> {
    this.#running?.abort();
    this.#running = null;
    await this.settled();
  }

  /** Resolves when no look is in hand; true when there was one. */
  async settled(): Promise<boolean> {
    const wasLooking = this.#looking !== null;
    while (this.#looking !== null) await this.#looking;
    return wasLooking;
  }

  async #keepLooking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(signal);
      await this.#parts.clock.sleep(LOOK_MS, signal);
    }
  }

  /** One look at a time: requests during a look lead to one more look. */
  #look(signal: AbortSignal): Promise<void> {
    this.#isAskedAgain = true;
    this.#looking ??= this.#lookWhileAsked(signal);
    return this.#looking;
  }

  async #lookWhileAsked(signal: AbortSignal): Promise<void> {
    try {
      while (this.#isAskedAgain && !signal.aborted) {
        this.#isAskedAgain = false;
        await this.#lookOnce(signal);
      }
    } catch (err) {
      this.#parts.log.error({ err }, "events of orders could not be read; read again in five seconds");
    } finally {
      this.#looking = null;
    }
  }

  async #lookOnce(signal: AbortSignal): Promise<void> {
    const { storage, log } = this.#parts;
    let after: string | undefined = "";
    while (after !== undefined) {
      const rows: readonly UntoldEventRecord[] = await storage.untoldEventsAfter(after, ROWS_AT_ONCE);
      for (const [transactionId, events] of groupedBy(rows, "transactionId")) {
        if (signal.aborted) return;
        await this.#tell(transactionId, events).catch((err: unknown) => {
          log.error({ transactionId, err }, "events could not be told; tried again in five seconds");
        });
      }
      after = rows[ROWS_AT_ONCE - 1]?.id;
    }
  }

  /**
   * The events go with the notices that come of them, in one commit: of two processes one tells. It is refused, and
   * decided anew in the next look, where webhooks have changed meanwhile.
   */
  async #tell(transactionId: string, events: readonly UntoldEventRecord[]): Promise<void> {
    const { storage } = this.#parts;
    const engine = this.#parts.engine();
    const seen = events.map(({ id }): WebhookWrite => ({ table: "untoldEvents", remove: id }));
    const view = await this.#read(transactionId);
    if (view === null) {
      await engine.commit({ writes: seen });
      return;
    }
    const { accountId } = view.transaction;
    const { webhooks, unchanged } = await readWebhookList(storage, accountId);
    const told = { view, notices: this.#fresh(events, view), own: [], webhooks, deliveries: [] };
    const { notices, runs } = announce(this.#parts, told);
    await engine.commit({
      starts: runs.map(({ start }) => start),
      writes: [
        ...seen,
        ...notices.map((insert): WebhookWrite => ({ table: "notices", insert })),
        ...announcements(this.#parts, notices, accountId),
        unchanged,
        ...runs.map(({ write }) => write),
      ],
    });
  }

  /** Notices that were not told, each once. */
  #fresh(events: readonly UntoldEventRecord[], view: ToldTransaction): readonly NoticeRecord[] {
    const now = this.#parts.clock.now();
    const notices = events.flatMap((event) =>
      view.noticesOf.flatMap((noticeOf) => noticeOf(event, view, now) ?? []),
    );
    const byId = new Map(notices.map((notice) => [notice.id, notice]));
    for (const { id } of view.told) byId.delete(id);
    return [...byId.values()];
  }

  /** Null when the transaction was removed as old. */
  async #read(transactionId: string): Promise<ToldTransaction | null> {
    const { storage, eventNotices } = this.#parts;
    const [view, told, noticesOf] = await Promise.all([
      storage.transaction(transactionId),
      storage.notices(transactionId),
      eventNotices(transactionId),
    ]);
    return view && { ...view, told, noticesOf: [plainEventNotice, ...noticesOf] };
  }
}
