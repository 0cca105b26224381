/** Tells the events of orders beside their status, behind the commits that made them. */
import type { PaymentWrite } from "../payment-storage.ts";
import type { PaymentTables } from "../tables.ts";
import { groupedBy } from "../tables/read.ts";
import type { NoticeRecord, UntoldEventRecord } from "../tables/notices.ts";
import type { Engine, StartRequest } from "../../engine/index.ts";
import type { Logger } from "../../runtime.ts";
import { smallestAmount } from "../assets/assets.ts";
import { noticeId } from "../notice-writes.ts";
import { inLanes } from "../semaphore.ts";
import { toldOf, type OrderRows } from "../private/order-events.ts";
import { announceAlone, announcements, type AnnounceParts } from "./announce.ts";
import { readWebhookList } from "./webhook-list.ts";

interface OrderEventParts extends AnnounceParts {
  readonly engine: Pick<Engine<PaymentTables>, "subscribe" | "commit">;
  readonly log: Logger;
}

/** Events of commits that this process does not hear of are found after this time at the latest. */
const LOOK_MS = 5_000;
const ROWS_AT_ONCE = 200;
const ORDERS_AT_ONCE = 4;
/** How often one look decides anew about an order whose webhooks, or whose other events, have just changed. */
const MAX_TRIES = 3;

interface CommitParts {
  readonly starts: readonly StartRequest[];
  readonly writes: readonly PaymentWrite[];
}

export class OrderEventLoop {
  readonly #parts: OrderEventParts;
  #looking: Promise<void> | null = null;
  #isAskedAgain = false;
  #running: AbortController | null = null;

  constructor(parts: OrderEventParts) {
    this.#parts = parts;
    parts.engine.subscribe(({ commit }) => {
      const isUntold = commit.writes?.some((write) => write.table === "untoldEvents" && "insert" in write);
      if (isUntold === true && this.#running !== null) void this.#look(this.#running.signal);
    });
  }

  /** Looks now, behind each commit of this process, and every five seconds, until `stop`. */
  run(): void {
    if (this.#running !== null) return;
    this.#running = new AbortController();
    void this.#keepLooking(this.#running.signal);
  }

  /** Begins no look any more, and waits for the one in hand for up to `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.#running?.abort();
    this.#running = null;
    const enough = new AbortController();
    await Promise.race([this.settled(), this.#parts.clock.sleep(timeoutMs, enough.signal)]);
    enough.abort();
  }

  /** Resolves when all that this process has committed was looked at; true when there was anything. */
  async settled(): Promise<boolean> {
    const isLooking = this.#looking !== null;
    while (this.#looking !== null) await this.#looking;
    return isLooking;
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
      if (!signal.aborted) this.#parts.log.error({ err }, "events of orders could not be read; read again");
    } finally {
      this.#looking = null;
    }
  }

  async #lookOnce(signal: AbortSignal): Promise<void> {
    for (let after = ""; !signal.aborted; ) {
      const rows = await this.#parts.storage.untoldEventsAfter(after, ROWS_AT_ONCE);
      const orders = [...groupedBy(rows, "transactionId")];
      await inLanes({ lanes: ORDERS_AT_ONCE, signal }, orders, ([id, events]) => this.#tell(id, events));
      if (rows.length < ROWS_AT_ONCE) return;
      after = rows.at(-1)?.id ?? after;
    }
  }

  /** The events go with the notices that come of them, in one commit: of two processes one tells. */
  async #tell(transactionId: string, events: readonly UntoldEventRecord[]): Promise<void> {
    const { engine, log } = this.#parts;
    const seen = events.map(({ id }): PaymentWrite => ({ table: "untoldEvents", remove: id }));
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const { starts, writes } = await this.#notices(transactionId, events);
        if ((await engine.commit({ starts, writes: [...seen, ...writes] })).ok) return;
      }
    } catch (err) {
      log.error({ transactionId, err }, "events of an order could not be told; tried again in five seconds");
    }
  }

  async #notices(transactionId: string, events: readonly UntoldEventRecord[]): Promise<CommitParts> {
    const { storage } = this.#parts;
    const order = await this.#read(transactionId);
    const notices = order === null ? [] : this.#fresh(order, events);
    if (order === null || notices.length === 0) return { starts: [], writes: [] };
    const { accountId } = order.transaction;
    const { webhooks, unchanged } = await readWebhookList(storage, accountId);
    const told = notices.map((notice) => announceAlone(this.#parts, notice, { view: order, webhooks }));
    const runs = told.flatMap((each) => each.runs);
    return {
      starts: runs.map(({ start }) => start),
      writes: [
        ...told.map(({ notice }): PaymentWrite => ({ table: "notices", insert: notice })),
        ...announcements(this.#parts, notices, accountId),
        unchanged,
        ...runs.map(({ write }) => write),
      ],
    };
  }

  /** Null when the transaction was removed as old. */
  async #read(transactionId: string): Promise<OrderRows | null> {
    const { storage, assets } = this.#parts;
    const view = await storage.transaction(transactionId);
    if (view === null) return null;
    const address = view.transaction.depositAddress ?? "";
    const [[deposit = null], entries, words, told] = await Promise.all([
      storage.deposits([address]),
      storage.entries(address),
      storage.vouchings(address),
      storage.notices(transactionId),
    ]);
    const smallest = deposit === null ? 0n : smallestAmount(assets.named(deposit.mint));
    return { ...view, deposit, entries, releases: words.length, smallest, told };
  }

  /** Notices that were not told, each once. */
  #fresh(order: OrderRows, events: readonly UntoldEventRecord[]): readonly NoticeRecord[] {
    const { id: transactionId, status, reason, signature, blockTime, fee } = order.transaction;
    const known = new Set(order.told.map(({ id }) => id));
    return events.flatMap((untold) => {
      const told = toldOf(untold, order);
      const id = noticeId(transactionId, untold.event, told?.subject);
      if (told === null || known.has(id)) return [];
      known.add(id);
      const { received, remaining, at } = told;
      const shown = { status, reason, signature, blockTime, fee, received, remaining };
      const createdAt = at ?? this.#parts.clock.now();
      return { id, transactionId, event: untold.event, ...shown, body: null, webhooks: null, createdAt };
    });
  }
}
