/** The removals of a payment service: what its host lets go, and when. */
import {
  RetentionLoop,
  type RemovalStatus,
  type RetentionRule,
} from "../../../engine/retention/retention-loop.ts";
import { contradictionOf } from "../intake/chain-clock.ts";
import type { ServiceContext } from "../service-context.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { CheckedKeepOptions } from "./keep.ts";
import type { OldRows } from "./old-rows.ts";

interface RetentionOptions {
  readonly keep: CheckedKeepOptions;
  /** The rules of each module, in the order of a pass. */
  readonly rows: readonly OldRows[];
}

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
    const sweeps = rulesOf(options.rows, clock);
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

function rulesOf(rows: readonly OldRows[], clock: Clock): readonly RetentionRule[] {
  return rows.flatMap(({ name, keepMs, batches }) =>
    keepMs === null ? [] : [{ name, batches: () => batches(clock.now() - keepMs) }],
  );
}
