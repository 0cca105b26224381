/** Quotes that nobody used and that expired long ago. A used quote stays as long as its transaction. */
import type { QuoteRecord } from "../tables/orders.ts";
import { paymentTables } from "../tables.ts";
import { archivedRows } from "./archived-rows.ts";
import type { RetentionState, Rows } from "./oldest-first.ts";
import { carryOut, type Removal, type RemovingParts } from "./removal.ts";

export function oldQuotes(parts: RemovingParts): Rows<QuoteRecord> {
  return {
    page: (after, limit) =>
      parts.storage.find({ table: paymentTables.quotes, index: "key", after: [after], limit }),
    async judge(quotes, until) {
      const old = quotes.filter(({ usedBy, expiresAt }) => usedBy === null && expiresAt <= until);
      const gone = await carryOut(parts, old.map(removalOf));
      const removed = new Set(old.filter((_, index) => gone[index] === true).map(({ id }) => id));
      return quotes.map(({ id, usedBy }): RetentionState => {
        if (removed.has(id)) return "gone";
        return usedBy === null ? "later" : "stays";
      });
    },
  };
}

/** Refused where it was used or refreshed meanwhile. */
function removalOf(quote: QuoteRecord): Removal {
  const { id, version } = quote;
  return {
    removes: [],
    writes: [{ table: "quotes", remove: id, expected: { version, usedBy: null } }],
    rows: archivedRows("quotes", [quote]),
  };
}
