/** Telling the host about notices without a webhook, as this process commits them. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { PaymentTables } from "../records.ts";
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

/** Told of one notice. What it throws is logged and disturbs nobody. */
export type NoticeListener = (notice: Notice) => void;

export function subscribeNotices(
  {
    engine,
    storage,
    assets,
    log,
  }: {
    readonly engine: Engine<PaymentTables>;
    readonly storage: PaymentStorage;
    readonly assets: Assets;
    readonly log: Logger;
  },
  { accountId, transactionId, events }: NoticeFilter,
  listener: NoticeListener,
): () => void {
  // One after the other, because reading the facts of a notice takes time and their order must not depend on it.
  let told: Promise<void> = Promise.resolve();
  return engine.subscribe(({ commit }) => {
    for (const write of commit.writes ?? []) {
      if (write.table !== "notices" || !("insert" in write)) continue;
      const notice = write.insert;
      if (transactionId !== undefined && notice.transactionId !== transactionId) continue;
      if (events !== undefined && !(events as readonly string[]).includes(notice.event)) continue;
      told = told.then(async () => {
        try {
          const view = await storage.transaction(notice.transactionId);
          if (view === null || (accountId !== undefined && view.transaction.accountId !== accountId)) return;
          listener(noticeOf(notice, view.transaction, view.recipients, assets));
        } catch (err) {
          log.error({ notice: notice.id, err }, "a subscriber could not be told");
        }
      });
    }
  });
}
