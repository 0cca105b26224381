/** The ledger as operators have it: while they have lowered the number of witnesses, it is asked with that number. */
import { isInForce, loweredWitnesses, type LoweringParts } from "../payments/intake/lowered-witnesses.ts";
import type { LoweredWitnesses } from "../payments/intake/rules.ts";
import type { Ledger, WitnessedReads } from "../ledger/ledger.ts";

/** What was read is used for so long: a process hears of a lowered number, and of its early end, at most so late. */
const REREAD_MS = 5_000;

/** A ledger in front of `ledger`. A storage that cannot be read lowers nothing. */
export function ledgerInForce(ledger: Ledger, parts: LoweringParts): Ledger {
  const standing = new Standing(parts);
  const asked = async (): Promise<WitnessedReads> => {
    const witnesses = await standing.witnesses();
    return witnesses === null ? ledger : ledger.withWitnesses(witnesses);
  };
  const reads: WitnessedReads = {
    landings: async (attempts) => (await asked()).landings(attempts),
    funds: async (addresses, mints, commitment) => (await asked()).funds(addresses, mints, commitment),
    fundsOfOwner: async (owner, mints, commitment) => (await asked()).fundsOfOwner(owner, mints, commitment),
    strayAccounts: async (owner, mints, commitment) =>
      (await asked()).strayAccounts(owner, mints, commitment),
    markers: async (base, seeds) => (await asked()).markers(base, seeds),
    heights: async () => (await asked()).heights(),
    witnesses: async () => (await asked()).witnesses(),
  };
  // In front of an object without fields: a proxy of a frozen ledger may not answer anything but its own methods.
  return new Proxy(Object.create(ledger) as Ledger, {
    get(_, property): unknown {
      if (Object.hasOwn(reads, property)) return Reflect.get(reads, property);
      const member: unknown = Reflect.get(ledger, property, ledger);
      return typeof member === "function" ? (member as (...args: unknown[]) => unknown).bind(ledger) : member;
    },
  });
}

/** What one process knows of the lowered number. */
class Standing {
  readonly #parts: LoweringParts;
  #read: Promise<LoweredWitnesses | null> = Promise.resolve(null);
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(parts: LoweringParts) {
    this.#parts = parts;
  }

  /** The lowered number, null while it is as configured. */
  async witnesses(): Promise<number | null> {
    const { clock } = this.#parts;
    const now = clock.now();
    // A clock that was set back must not keep an old reading.
    if (now < this.#readAt || now - this.#readAt >= REREAD_MS) {
      this.#readAt = now;
      this.#read = loweredWitnesses(this.#parts).catch(() => null);
    }
    const lowered = await this.#read;
    return lowered !== null && isInForce(lowered, clock.now()) ? lowered.witnesses : null;
  }
}
