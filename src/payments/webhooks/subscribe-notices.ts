/** Tells the host about notices without a webhook, as this process commits them. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { NoticeRecord, PaymentTables } from "../records.ts";
import type { Engine } from "../../engine/index.ts";
import type { Logger } from "../../runtime.ts";
import type { Notice, NoticeEvent } from "./sending/notice-body.ts";
import { noticeOf } from "./announce.ts";
import type { Assets } from "../assets/assets.ts";

/** Which notices to be told of; every field narrows. An empty filter takes all. */
export interface NoticeFilter {
  readonly accountId?: string;
  readonly transactionId?: string;
  readonly events?: readonly NoticeEvent[];
}

/** Told of one notice. What it throws is logged; other listeners are told all the same. */
export type NoticeListener = (notice: Notice) => void;

/** What telling needs. */
export interface NoticeSubscribing {
  readonly engine: Engine<PaymentTables>;
  readonly storage: Pick<PaymentStorage, "transaction">;
  readonly assets: Assets;
  readonly log: Logger;
}

/** See `PaymentService.subscribe`. */
export function subscribeNotices(
  { engine, storage, assets, log }: NoticeSubscribing,
  { accountId, transactionId, events }: NoticeFilter,
  listener: NoticeListener,
): () => void {
  const tell = async (notice: NoticeRecord): Promise<void> => {
    try {
      const view = await storage.transaction(notice.transactionId);
      if (view === null || (accountId !== undefined && view.transaction.accountId !== accountId)) return;
      listener(noticeOf(notice, view, assets));
    } catch (err) {
      log.error({ notice: notice.id, err }, "a subscriber could not be told");
    }
  };
  // One after the other, because reading the facts of a notice takes time and their order must not depend on it.
  let told: Promise<void> = Promise.resolve();
  return engine.subscribe(({ commit }) => {
    for (const write of commit.writes ?? []) {
      if (write.table !== "notices" || !("insert" in write)) continue;
      const notice = write.insert;
      if (transactionId !== undefined && notice.transactionId !== transactionId) continue;
      if (events !== undefined && !(events as readonly string[]).includes(notice.event)) continue;
      told = told.then(() => tell(notice));
    }
  });
}
