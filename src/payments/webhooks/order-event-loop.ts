/** Tells what orders have to tell beside their status: looked for behind the commits that changed them. */
import type { PaymentWrite } from "../payment-storage.ts";
import type { PaymentTables } from "../tables.ts";
import { groupedBy } from "../tables/read.ts";
import type { NoticeRecord } from "../tables/notices.ts";
import type { Engine, StartRequest } from "../../engine/index.ts";
import type { Logger } from "../../runtime.ts";
import { smallestAmount } from "../assets/assets.ts";
import { noticeId } from "../notice-writes.ts";
import { inLanes } from "../semaphore.ts";
import { orderEvents, type OrderRows } from "../private/order-events.ts";
import { announceAlone, announcements, type AnnounceParts } from "./announce.ts";
import { readWebhookList } from "./webhook-list.ts";

interface OrderEventParts extends AnnounceParts {
  readonly engine: Pick<Engine<PaymentTables>, "subscribe" | "commit">;
  readonly log: Logger;
}

/** Changes that this process does not hear of, those of other processes among them, are found after this time at the latest. */
const LOOK_MS = 5_000;
const ROWS_AT_ONCE = 200;
const ORDERS_AT_ONCE = 4;
/** How often one look decides anew about an order whose webhooks, or whose other events, have just changed. */
const MAX_TRIES = 3;

interface CommitParts {
  readonly starts: readonly StartRequest[];
  readonly writes: readonly PaymentWrite[];
}

const NOTHING: CommitParts = { starts: [], writes: [] };

export class OrderEventLoop {
  readonly #parts: OrderEventParts;
  #looking: Promise<void> | null = null;
  #isAskedAgain = false;
  #running: AbortController | null = null;

  constructor(parts: OrderEventParts) {
    this.#parts = parts;
    parts.engine.subscribe(({ commit }) => {
      const isChange = commit.writes?.some((write) => write.table === "orderChanges" && "insert" in write);
      if (isChange === true && this.#running !== null) void this.#look(this.#running.signal);
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
      if (!signal.aborted) this.#parts.log.error({ err }, "changed orders could not be read; read again");
    } finally {
      this.#looking = null;
    }
  }

  async #lookOnce(signal: AbortSignal): Promise<void> {
    for (let after = ""; !signal.aborted; ) {
      const rows = await this.#parts.storage.orderChangesAfter(after, ROWS_AT_ONCE);
      const orders = [...groupedBy(rows, "transactionId")];
      await inLanes({ lanes: ORDERS_AT_ONCE, signal }, orders, ([id, changes]) => this.#tell(id, changes));
      if (rows.length < ROWS_AT_ONCE) return;
      after = rows.at(-1)?.id ?? after;
    }
  }

  /** The changes go with the notices that come of them, in one commit: of two processes one tells. */
  async #tell(transactionId: string, changes: readonly { readonly id: string }[]): Promise<void> {
    const { engine, log } = this.#parts;
    const seen = changes.map(({ id }): PaymentWrite => ({ table: "orderChanges", remove: id }));
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const { starts, writes } = await this.#toTell(transactionId);
        if ((await engine.commit({ starts, writes: [...seen, ...writes] })).ok) return;
      }
    } catch (err) {
      log.error({ transactionId, err }, "events of an order could not be told; tried again in five seconds");
    }
  }

  /** What the order has not told, as parts of a commit. */
  async #toTell(transactionId: string): Promise<CommitParts> {
    const { storage, clock } = this.#parts;
    const rows = await this.#read(transactionId);
    if (rows === null) return NOTHING;
    const { order, told } = rows;
    const { accountId, status, reason, signature, blockTime, fee } = order.transaction;
    const known = new Set(told.map(({ id }) => id));
    const notices = orderEvents(order, told).map(({ event, subject, at, received, remaining }): NoticeRecord => {
      const id = noticeId(transactionId, event, subject);
      const shown = { status, reason, signature, blockTime, fee, received, remaining };
      const createdAt = at ?? clock.now();
      return { id, transactionId, event, ...shown, body: null, webhooks: null, createdAt };
    });
    const fresh = notices.filter(({ id }) => !known.has(id));
    if (fresh.length === 0) return NOTHING;
    const { webhooks, unchanged } = await readWebhookList(storage, accountId);
    const announced = fresh.map((notice) => announceAlone(this.#parts, notice, { view: order, webhooks }));
    const runs = announced.flatMap((each) => each.runs);
    return {
      starts: runs.map(({ start }) => start),
      writes: [
        ...announced.map(({ notice }): PaymentWrite => ({ table: "notices", insert: notice })),
        ...announcements(this.#parts, fresh, accountId),
        unchanged,
        ...runs.map(({ write }) => write),
      ],
    };
  }

  /** Null when the transaction was removed as old. */
  async #read(
    transactionId: string,
  ): Promise<{ readonly order: OrderRows; readonly told: readonly NoticeRecord[] } | null> {
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
    return { order: { ...view, deposit, entries, releases: words.length, smallest }, told };
  }
}
