/** Reads from the markers alone what became of an order. */
import type { Chain } from "./chain.ts";
import type { Book, Plan, Words } from "./messages.ts";

/** What the markers say about an order. */
export interface Fate {
  readonly paid: readonly number[];
  readonly refunded: readonly number[];
  /** Payees that a plan leaves out: their amounts are excess. */
  readonly leftOut: readonly number[];
  /** Payees whose words are not made. */
  readonly open: readonly number[];
  /** Delegates that the book does not know. */
  readonly unknown: readonly string[];
}

/** Reads the markers of an order with the plans that a copy of the database knows. */
export function readFate(chain: Chain, book: Book): Fate {
  return book.roots.map((words) => fateOf(chain, words, book.plans)).reduce(together, NOTHING);
}

const NOTHING: Fate = { paid: [], refunded: [], leftOut: [], open: [], unknown: [] };

function fateOf(chain: Chain, words: Words, plans: ReadonlyMap<string, Plan>): Fate {
  const { marker, payees } = words;
  const delegate = chain.markers[marker];
  if (delegate === undefined) return { ...NOTHING, open: payees };
  if (delegate === null) return { ...NOTHING, paid: payees };
  const plan = plans.get(delegate);
  if (plan === undefined) return { ...NOTHING, unknown: [delegate] };
  if (plan.isRefund) return { ...NOTHING, refunded: payees };
  const kept = new Set(plan.leaves.flatMap((leaf) => leaf.payees));
  const leftOut = payees.filter((payee) => !kept.has(payee));
  // Words that replace themselves stay open: nothing can pay them any more.
  return plan.leaves
    .map((leaf) => (leaf.marker === marker ? { ...NOTHING, open: payees } : fateOf(chain, leaf, plans)))
    .reduce(together, { ...NOTHING, leftOut });
}

function together(one: Fate, other: Fate): Fate {
  return {
    paid: [...one.paid, ...other.paid],
    refunded: [...one.refunded, ...other.refunded],
    leftOut: [...one.leftOut, ...other.leftOut],
    open: [...one.open, ...other.open],
    unknown: [...one.unknown, ...other.unknown],
  };
}
