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
import type { ChainGate } from "./chain-check.ts";
import type { LedgerCallHistory } from "./ledger-call-history.ts";

/**
 * How long read rules are used: a process hears of an operator's setting, and of its early end, after this time at the
 * latest.
 */
const REREAD_MS = 5_000;

/** Methods that ask no node. */
const PURE: ReadonlySet<string> = new Set<keyof Ledger>([
  "isOnCurve",
  "mostRecipients",
  "markerOf",
  "tokenAccountOf",
  "close",
]);

/** The ledger of a service: before the gate it tells how the chain is, behind the gate it is what work may believe. */
export interface LedgerInForce {
  readonly observed: Ledger;
  readonly guarded: Ledger;
}

/** The ledger with what operators have set. A storage that cannot be read restricts nothing. */
export function ledgerInForce(
  ledger: Ledger,
  parts: LoweringParts,
  { gate, calls }: { readonly gate: ChainGate; readonly calls: LedgerCallHistory },
): LedgerInForce {
  const restricting = new Restricting(ledger, parts);
  const asked = (method: string, given: readonly unknown[]): unknown =>
    isRestricted(method)
      ? restricting.reads().then((reads): unknown => called(reads, method, given))
      : called(ledger, method, given);
  return {
    observed: inFrontOf(ledger, asked),
    guarded: inFrontOf(ledger, (method, given) => {
      if (PURE.has(method)) return called(ledger, method, given);
      return gate.past(async () => calls.follow(method, () => asked(method, given)));
    }),
  };
}

/** Answers each call of a method of `ledger` by `call`. */
export function inFrontOf(
  ledger: Ledger,
  call: (method: string, given: readonly unknown[]) => unknown,
): Ledger {
  // In front of an object without fields: a proxy of a frozen ledger may not answer anything but its own methods.
  return new Proxy(Object.create(ledger) as Ledger, {
    get(_, property): unknown {
      const member: unknown = Reflect.get(ledger, property, ledger);
      if (typeof member !== "function" || typeof property !== "string") return member;
      return (...given: unknown[]): unknown => call(property, given);
    },
  });
}

function called(ledger: LedgerReads, method: string, given: readonly unknown[]): unknown {
  const member = Reflect.get(ledger, method, ledger) as (...asked: readonly unknown[]) => unknown;
  return member.apply(ledger, [...given]);
}

/** A diagnosis shows the endpoints out of service, too. */
function isRestricted(method: string): boolean {
  return Object.hasOwn(READS, method) && method !== "endpoints";
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
