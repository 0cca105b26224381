/**
 * Shares out the reads by which deposit addresses are looked at, among the kinds of watches of one process: what the
 * endpoints permit, and no more than it takes to look at every waiting address within five seconds.
 */
import type { ReadLimit } from "../../ledger/ledger.ts";

/** Every address that waits for its deposit is looked at within so long where the endpoints permit it. */
const LOOKED_AT_WITHIN_MS = 5_000;
/** A round that is as long as that ends a little later: a look takes its time, and another listing may have its turn. */
const ROUND_MS = 4_300;
/** Of the reads that the endpoints permit, so much is used for looks that nobody asked for. */
const PERMITTED_SHARE = 0.9;
/** So many reads a second cost about a quarter of a core: more are made only where a round would take too long. */
const CALM_READS = 100;
/** Looks at addresses that wait for no deposit any more get so much at most while others wait. */
const SLOW_SHARE = 1 / 4;

/** A ledger that may tell how much may be read. */
interface LimitedLedger {
  readonly readLimit?: Pick<ReadLimit, "perSecond" | "accounts">;
}

interface NeedingKind {
  readonly kind: string;
  readonly watched: number;
  /** Addresses in one look. */
  readonly batchSize: number;
  readonly intervalMs: number;
}

export class LookBudget {
  readonly #ledger: LimitedLedger;
  readonly #needs = new Map<string, { readonly reads: number; readonly intervalMs: number }>();

  constructor(ledger: LimitedLedger) {
    this.#ledger = ledger;
  }

  /** How many addresses the endpoints permit to be looked at within five seconds; null where one of them names no limit. */
  permitted(): number | null {
    const { perSecond, accounts } = this.#limit();
    return perSecond === null
      ? null
      : Math.floor((perSecond * PERMITTED_SHARE * LOOKED_AT_WITHIN_MS) / 1_000) * accounts;
  }

  /** The time in which each watch of a kind is to have its turn, beside the other kinds, in milliseconds. */
  roundMs({ kind, watched, batchSize, intervalMs }: NeedingKind): number {
    const { accounts } = this.#limit();
    const atOnce = Math.min(batchSize, accounts);
    const reads =
      Math.floor(watched / batchSize) * Math.ceil(batchSize / atOnce) +
      Math.ceil((watched % batchSize) / atOnce);
    this.#needs.set(kind, { reads, intervalMs });
    const { fast, slow } = this.#rates();
    const isFast = intervalMs < LOOKED_AT_WITHIN_MS;
    const wished = this.#wished(isFast);
    // None of a kind is watched, and it has no share.
    if (wished === 0) return intervalMs;
    return intervalMs * Math.max(1, wished / (isFast ? fast : slow));
  }

  /** Reads a second for those who wait for money, and for the others. */
  #rates(): { readonly fast: number; readonly slow: number } {
    const fast = this.#wished(true);
    const slow = this.#wished(false);
    const { perSecond } = this.#limit();
    const inTime = [...this.#needs.values()]
      .filter(({ intervalMs }) => intervalMs < LOOKED_AT_WITHIN_MS)
      .reduce((sum, { reads }) => sum + (reads * 1_000) / ROUND_MS, 0);
    const calm = Math.max(CALM_READS, inTime + slow);
    const all = perSecond === null ? calm : Math.min(calm, perSecond * PERMITTED_SHARE);
    const forSlow = Math.min(slow, Math.max(all * SLOW_SHARE, all - fast));
    return { fast: all - forSlow, slow: forSlow };
  }

  /** Reads a second, if every watch is looked at in its interval. */
  #wished(isFast: boolean): number {
    return [...this.#needs.values()]
      .filter(({ intervalMs }) => intervalMs < LOOKED_AT_WITHIN_MS === isFast)
      .reduce((sum, { reads, intervalMs }) => sum + (reads * 1_000) / intervalMs, 0);
  }

  #limit(): { readonly perSecond: number | null; readonly accounts: number } {
    return this.#ledger.readLimit ?? { perSecond: null, accounts: Infinity };
  }
}
