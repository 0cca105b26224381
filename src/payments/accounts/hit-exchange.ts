/** Exchanges request counts between the processes on one database: each writes one row for a second with requests. */
import { commitOne } from "../../../storage/decided.ts";
import type { HitCounts, HitReportRecord } from "../records.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Clock, Random } from "../../runtime.ts";
import { newId } from "../ids.ts";

/** The counts of another process, and when it wrote them, by this process's clock. */
export interface OthersHits {
  /** Names the process, as long as it runs. */
  readonly process: string;
  readonly at: number;
  readonly counts: HitCounts;
}

/** The parts that the exchange works with. */
export interface HitExchanging {
  readonly storage: Pick<PaymentStorage, "commit" | "hitReports">;
  readonly clock: Clock;
  readonly random: Random;
}

/** As long as the longest window that is counted in memory. */
const WINDOW_MS = 60_000;
/** Reports are kept for longer, so that a process whose clock is minutes ahead removes none that is still to be read. */
const KEPT_MS = 300_000;
/** Reports are read in order from the last one on. Later than this the last may be gone, and the window is read whole. */
const FOLLOWED_MS = 30_000;
/** More of them than any number of processes writes within a window; a bound on what is read, and never a refusal. */
const MAX_REPORTS = 1_000;
/** Of a window with more keys the busiest are told: those with few hits are far from their limit. */
const MAX_KEYS = 1_000;

export class HitExchange {
  readonly #parts: HitExchanging;
  #process: string | null = null;
  /** The report that was read last, and when. */
  #last: { readonly id: string; readonly at: number } | null = null;
  #isStopped = false;

  constructor(parts: HitExchanging) {
    this.#parts = parts;
  }

  /**
   * Writes the counts of this process since its last report, and answers the reports of the others since then. One commit,
   * which removes old reports too, and one read. Rejects as storage does; the counts are lost to the others then. After
   * `stop` it does nothing, since the storage may be closed.
   */
  async exchange(counts: HitCounts): Promise<readonly OthersHits[]> {
    if (this.#isStopped) return [];
    const { storage, clock, random } = this.#parts;
    const at = clock.now();
    const process = (this.#process ??= newId("hit", at, random));
    const insert: HitReportRecord = {
      id: newId("hit", at, random),
      process,
      topic: "requests",
      at,
      counts: Object.fromEntries(Object.entries(counts).map(([name, keys]) => [name, busiest(keys)])),
    };
    // A group's inserts wait for each other, so a report is there before any that stands behind it.
    const atMost = { count: Number.MAX_SAFE_INTEGER, since: at - KEPT_MS };
    await commitOne(storage, { writes: [{ table: "hitReports", insert, atMost }] });
    const last = this.#last;
    const isFollowed = last !== null && last.at > at - FOLLOWED_MS;
    const found = isFollowed
      ? await storage.hitReports({ order: "asc", beyond: last.id, limit: MAX_REPORTS })
      : (await storage.hitReports({ order: "desc", beyond: null, limit: MAX_REPORTS })).toReversed();
    // A window that is read whole begins with what was told before, which must not count twice.
    const untold = found.slice(found.findIndex(({ id }) => id === last?.id) + 1);
    this.#last = { id: found.at(-1)?.id ?? insert.id, at };
    return untold
      .filter((report) => report.process !== process && (isFollowed || report.at > at - WINDOW_MS))
      .map((report) => ({
        process: report.process,
        at: isFollowed ? at : Math.min(report.at, at),
        counts: report.counts,
      }));
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** The service runs again. */
  start(): void {
    this.#isStopped = false;
  }
}

function busiest(keys: HitCounts[string]): HitCounts[string] {
  const entries = Object.entries(keys);
  if (entries.length <= MAX_KEYS) return keys;
  return Object.fromEntries(entries.toSorted(([, a], [, b]) => b - a).slice(0, MAX_KEYS));
}
