/** The removals of a payment service: what its host lets go, and when. */
import type { Address } from "../../core/address.ts";
import type { Archive } from "../../engine/index.ts";
import {
  RetentionLoop,
  type RemovalStatus,
  type RetentionRule,
} from "../../engine/retention/retention-loop.ts";
import { contradictionOf } from "../frame/intake/chain-clock.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import { type ArchivedRow, OldestRowReader, type Rows, type RemovingParts } from "./removal.ts";
import type { CheckedKeepOptions } from "./keep.ts";
import { deliveredRuns } from "./delivered-runs.ts";
import { oldAnswers, oldQuotes } from "./old-answers.ts";
import { oldNotices } from "./old-notices.ts";
import { oldOrders, type OrderAccess } from "./old-orders.ts";
import { oldTransactions } from "./old-transactions.ts";
import type { DeliveryChart } from "../webhooks/recalled-run.ts";

interface RetentionOptions {
  readonly keep: CheckedKeepOptions;
  readonly archive: Archive<ArchivedRow> | null;
  /** The deadline of the archive for the rows of one batch, in milliseconds. */
  readonly archiveDeadlineMs: number;
  /** Wallets of the service: what they have signed stays. */
  readonly ownAddresses: readonly Address[];
  readonly deliveries: DeliveryChart;
  readonly orders: OrderAccess;
}

/** What just happened is looked at most. */
const RUN_KEPT_MS = 3_600_000;

/** The state of retention in a service. */
export interface PaymentRetentionStatus extends RemovalStatus {
  /** The size of all data in the storage, in bytes; null for an unknown size. */
  readonly bytes: number | null;
  /** The age of the oldest transaction, in milliseconds; null without a transaction. */
  readonly oldestTransactionMs: number | null;
  /** Kinds that are never removed, although the host may set a duration for them. */
  readonly keptForGood: readonly (keyof CheckedKeepOptions)[];
}

/** From `run` to `stop`. */
export class PaymentRetentionLoop {
  readonly #context: ServiceContext;
  readonly #keep: CheckedKeepOptions;
  readonly #loop: RetentionLoop;

  constructor(context: ServiceContext, options: RetentionOptions) {
    const { storage, clock, log, random } = context;
    this.#context = context;
    this.#keep = options.keep;
    const holder = Buffer.from(random.bytes(8)).toString("hex");
    const { archive, archiveDeadlineMs } = options;
    const sweeps = sweepsOf({ storage, clock, archive, archiveDeadlineMs }, options);
    const compareClock = (): Promise<unknown> => contradictionOf(context);
    this.#loop = new RetentionLoop(sweeps, { storage, clock, log, holder, name: "payments", compareClock });
  }

  run(): void {
    this.#loop.run();
  }

  stop(timeoutMs: number): Promise<void> {
    return this.#loop.stop(timeoutMs);
  }

  /** Rejects when the storage does. */
  async standing(): Promise<PaymentRetentionStatus> {
    const { storage, clock } = this.#context;
    const [bytes, [oldest]] = await Promise.all([storage.size(), storage.transactionsAfter("", 1)]);
    const names = Object.keys(this.#keep) as (keyof CheckedKeepOptions)[];
    return {
      bytes,
      oldestTransactionMs: oldest === undefined ? null : Math.max(0, clock.now() - oldest.createdAt),
      keptForGood: names.filter((name) => this.#keep[name] === null),
      ...this.#loop.standing(),
    };
  }
}

function sweepsOf(
  parts: RemovingParts,
  { keep, ownAddresses, deliveries: workflow, orders: access }: RetentionOptions,
): readonly RetentionRule[] {
  const { clock } = parts;
  const { transactions, private: orders, notices, quotes, idempotencyAnswers } = keep;
  const byId = <R extends { readonly id: string }>(
    name: string,
    keepMs: number | null,
    rows: Rows<R>,
  ): readonly RetentionRule[] => {
    if (keepMs === null) return [];
    const oldest = new OldestRowReader(rows);
    return [{ name, batches: () => oldest.batches(clock.now() - keepMs) }];
  };
  return [
    ...byId("notices", notices, oldNotices(parts)),
    ...byId("transactions", transactions, oldTransactions({ ...parts, ownAddresses })),
    ...byId("private", orders, oldOrders({ ...parts, ...access })),
    ...byId("quotes", quotes, oldQuotes(parts)),
    { name: "idempotencyAnswers", batches: () => oldAnswers(parts, clock.now() - idempotencyAnswers) },
    ...byId("deliveredRuns", RUN_KEPT_MS, deliveredRuns({ ...parts, workflow })),
  ];
}
