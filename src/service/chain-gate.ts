/**
 * The gate in front of the chain. While it is shut the chain cannot be asked and nothing new is taken: reads may come
 * from a wrong chain, and sends would move money there.
 */
import { LedgerUnavailable, type Ledger } from "../ledger/ledger.ts";

/** Methods that ask no node. */
const PURE: ReadonlySet<PropertyKey> = new Set<keyof Ledger>([
  "isOnCurve",
  "mostRecipients",
  "markerAddress",
  "tokenAccountOf",
  "close",
]);

/** Open until it is shut by a start: commands of an operator need no start, and compare the chain themselves. */
export class ChainGate {
  #reason: string | null = null;

  /** From now on everything behind the gate fails with this reason, as in an outage. */
  shut(reason: string): void {
    this.#reason = reason;
  }

  /** The chain was compared with the database. */
  open(): void {
    this.#reason = null;
  }

  /** Throws `LedgerUnavailable` while it is shut. */
  pass(): void {
    if (this.#reason !== null) throw new LedgerUnavailable(this.#reason);
  }

  /** The ledger behind the gate: while the gate is shut, every question is rejected with `LedgerUnavailable`. */
  guard(ledger: Ledger): Ledger {
    // In front of an object without fields: a proxy of a frozen ledger may not answer anything but its own methods.
    return new Proxy(Object.create(ledger) as Ledger, {
      get: (_, property): unknown => {
        const member: unknown = Reflect.get(ledger, property, ledger);
        if (typeof member !== "function") return member;
        const method = (member as (...args: unknown[]) => unknown).bind(ledger);
        if (PURE.has(property)) return method;
        return async (...args: unknown[]): Promise<unknown> => {
          this.pass();
          return method(...args);
        };
      },
    });
  }
}
