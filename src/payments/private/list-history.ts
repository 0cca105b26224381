/** Lists the transactions of an order: payers, the return of the loan, payees of another maker's marker. */
import { SOL_MINT, type Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { OrderChange } from "../../ledger/order-reading.ts";
import { MOST_REDIRECTS } from "./protocol/cut.ts";
import { loanOf } from "./protocol/cost.ts";
import { queryOf } from "./protocol/look.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import type { DepositRecord } from "./tables.ts";
import { tokensOf, type StoredOrder } from "./look.ts";
import { withListed } from "./small-deposits.ts";

/** Some thousands of transactions: whoever floods an order pays for each, and the next list goes on from there. */
const LISTS_AT_ONCE = 5;

/** The facts of an order's history. */
export interface ListedHistory {
  readonly changes: Evidence<readonly OrderChange[]>;
  /** Whether all that is listed has been read, or will never be. */
  readonly isWhole: boolean;
  /** All deposits of the order, those listed now included. */
  readonly deposits: readonly DepositRecord[];
  /** The rows for a commit that concludes anything from it. */
  readonly writes: readonly PrivateWrite[];
  /** The changes of the order's row. */
  readonly set: { readonly listedTo: number; readonly loanBack: string | null };
}

type HistoryParts = Pick<PrivateContext, "ledger" | "assets" | "clock">;

/** Goes on from the last listed slot, `from` an earlier one if all is to be read again. Throws `LedgerUnavailable`. */
export async function listHistory(
  deps: HistoryParts,
  order: StoredOrder,
  from: number = order.view.order.listedTo,
): Promise<ListedHistory> {
  const { ledger } = deps;
  const mints = tokensOf(deps.assets).map(({ mint }) => mint);
  const { rentPerByte } = order.terms;
  const query = { ...queryOf(order.terms, { mints, redirects: MOST_REDIRECTS, others: [] }), rentPerByte };
  let { changes, more } = await ledger.changesOfOrder(query, from);
  let since = from;
  for (let lists = 1; more !== null && more > since && lists < LISTS_AT_ONCE; lists += 1) {
    since = more;
    const next = await ledger.changesOfOrder(query, more);
    changes = changes.concat(next.changes);
    more = next.more;
  }
  // A list without an end is not read: an order that waited for it would wait for ever.
  const isEndless = more === since;
  const { deposits, writes } = withListed(deps.assets, order.view.deposits, depositsIn(deps, order, changes));
  const lastSlot = changes.reduce((last, { slot }) => Math.max(last, slot), from);
  const { loanBack } = order.view.order;
  return {
    changes,
    isWhole: more === null || isEndless,
    deposits,
    writes,
    set: { listedTo: more ?? lastSlot, loanBack: loanBack ?? loanBackIn(order, changes) },
  };
}

/** A deposit for each asset of each transaction that the address did not sign. */
function depositsIn(
  { assets, clock }: Pick<HistoryParts, "assets" | "clock">,
  { terms: { id } }: StoredOrder,
  changes: Evidence<readonly OrderChange[]>,
): readonly DepositRecord[] {
  const mints: readonly Address[] = [SOL_MINT, ...tokensOf(assets).map(({ mint }) => mint)];
  const counted = { order: id, at: clock.now(), decimals: null, account: null, leftAt: null };
  return changes
    .filter(({ isOwn }) => !isOwn)
    .flatMap(({ changes: gained, payers, signature, slot }) =>
      mints.flatMap((mint, index): readonly DepositRecord[] => {
        const amount = gained[index] ?? 0n;
        const payer = payers[index] ?? null;
        return amount <= 0n
          ? []
          : [{ ...counted, id: `${id}:${signature}:${mint}`, mint, amount, payer, signature, slot }];
      }),
    );
}

/**
 * The transaction of the order's own key that gave the loan back to the sponsor, who also paid its fee: three quarters of the
 * loan are more than any other transaction gives him, but the cost of many long markers. This copy knows its own bookings.
 * The sponsor of a recovered order is not on record: whoever else than its sender got so much without a marker was.
 */
function loanBackIn({ terms, view }: StoredOrder, changes: Evidence<readonly OrderChange[]>): string | null {
  const { sponsor, sender } = terms;
  const isRecovered = terms.members.length === 0;
  const isSponsor = (owner: Address, { markers }: OrderChange): boolean =>
    owner === sponsor || (isRecovered && owner !== sender && markers.length === 0);
  const least = (loanOf(terms) * 3n) / 4n;
  if (least === 0n) return null;
  const booked = new Set(view.transfers.map(({ signature }) => signature));
  const found = changes.find(
    (change) =>
      change.isOwn &&
      !booked.has(change.signature) &&
      change.received.some(
        ({ owner, mint, amount }) => isSponsor(owner, change) && mint === null && amount >= least,
      ),
  );
  return found?.signature ?? null;
}
