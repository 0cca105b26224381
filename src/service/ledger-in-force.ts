/** The ledger as operators have it: with fewer witnesses for a time, and without the endpoints out of service. */
import {
  beliefRulesAt,
  readBeliefRules,
  type BeliefReading,
  type BeliefRules,
  type LoweringParts,
} from "../payments/frame/intake/rules.ts";
import type { Ledger, LedgerReads } from "../ledger/ledger.ts";
import { READS } from "../ledger/reads.ts";

/**
 * How long read rules are used: a process hears of an operator's setting, and of its early end, after this time at the
 * latest.
 */
const REREAD_MS = 5_000;

/** A ledger in front of `ledger`. A storage that cannot be read restricts nothing. */
export function ledgerInForce(ledger: Ledger, parts: LoweringParts): Ledger {
  const restricting = new Restricting(ledger, parts);
  // In front of an object without fields: a proxy of a frozen ledger may not answer anything but its own methods.
  return new Proxy(Object.create(ledger) as Ledger, {
    get(_, property): unknown {
      const member: unknown = Reflect.get(ledger, property, ledger);
      if (typeof member !== "function") return member;
      if (!isRestricted(property)) return (member as (...args: unknown[]) => unknown).bind(ledger);
      return async (...args: unknown[]): Promise<unknown> => {
        const reads = await restricting.reads();
        const method = Reflect.get(reads, property, reads) as (...given: unknown[]) => unknown;
        return method.apply(reads, args);
      };
    },
  });
}

/** A diagnosis shows the endpoints out of service, too. */
function isRestricted(property: string | symbol): boolean {
  return Object.hasOwn(READS, property) && property !== "endpoints";
}

const NOTHING_SET: BeliefReading = { rules: { lowered: null, suspendedEndpoints: [] }, aheadMs: 0 };

/** The reads of a ledger as one process knows them to be restricted. */
class Restricting {
  readonly #ledger: Ledger;
  readonly #parts: LoweringParts;
  #reading: Promise<BeliefReading> = Promise.resolve(NOTHING_SET);
  #readAt = Number.NEGATIVE_INFINITY;
  /** The reads made last, and what they are restricted by. */
  #made: { readonly by: string; readonly reads: Promise<LedgerReads> } | null = null;

  constructor(ledger: Ledger, parts: LoweringParts) {
    this.#ledger = ledger;
    this.#parts = parts;
  }

  async reads(): Promise<LedgerReads> {
    const { lowered, suspendedEndpoints } = await this.#inForce();
    if (lowered === null && suspendedEndpoints.length === 0) return this.#ledger;
    const restriction = {
      witnesses: lowered?.witnesses ?? null,
      without: suspendedEndpoints.map(({ endpoint }) => endpoint),
    };
    const by = JSON.stringify(restriction);
    if (this.#made?.by !== by) this.#made = { by, reads: this.#ledger.restricted(restriction) };
    return this.#made.reads;
  }

  async #inForce(): Promise<BeliefRules> {
    const { clock } = this.#parts;
    const now = clock.now();
    // A clock that was set back must not keep an old reading.
    if (now < this.#readAt || now - this.#readAt >= REREAD_MS) {
      this.#readAt = now;
      this.#reading = readBeliefRules(this.#parts).catch(() => NOTHING_SET);
    }
    const { rules, aheadMs } = await this.#reading;
    return beliefRulesAt(rules, clock.now() + aheadMs);
  }
}
