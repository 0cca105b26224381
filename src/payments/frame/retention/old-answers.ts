/** Old answers to requests with an Idempotency-Key whose transaction is over, and old quotes. */
import type { IdempotencyRecord } from "../tables/identity.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import { frameTables } from "../tables.ts";
import {
  archivedRows,
  isOver,
  carryOut,
  type RemovingParts,
  type Removal,
  type RetentionState,
  type Rows,
} from "./removal.ts";
import type { QuoteRecord } from "../tables/orders.ts";

const PAGE = 32;

/** Removes old answers of idempotency keys. Their ids tell no time, so an index over their time is read. */
export async function* oldAnswers(parts: RemovingParts, until: number): AsyncGenerator<number> {
  const { storage } = parts;
  const byAge = { table: frameTables.idempotency, index: "byAge", limit: PAGE } as const;
  let after: readonly [number, string] = [Number.MIN_SAFE_INTEGER, ""];
  for (;;) {
    const page = await storage.find({ ...byAge, after });
    const old = page.filter(({ createdAt }) => createdAt <= until);
    const last = old.at(-1);
    if (last === undefined) return;
    after = [last.createdAt, last.id];
    const areOver = await Promise.all(old.map((answer) => isOfNoOpenTransaction(storage, answer)));
    const removals = old
      .filter((_, index) => areOver[index] === true)
      .map((answer) => ({
        removes: [],
        writes: [removeOf(answer)],
        rows: archivedRows("idempotency", [answer]),
      }));
    yield (await carryOut(parts, removals)).filter((isGone) => isGone).length;
    if (old.length < PAGE) return;
  }
}

/**
 * Refused where the key was used again meanwhile: another process removed the old answer, and a new answer has its
 * place.
 */
function removeOf({ id, createdAt, fingerprint, answer }: IdempotencyRecord): FrameWrite {
  return { table: "idempotency", remove: id, expected: { createdAt, fingerprint, answer } };
}

async function isOfNoOpenTransaction(storage: FrameStorage, { answer }: IdempotencyRecord): Promise<boolean> {
  const { transactionId } = JSON.parse(answer) as { readonly transactionId?: unknown };
  return typeof transactionId !== "string" || isOver(storage, transactionId);
}

/** Quotes that nobody used and that expired long ago. A used quote stays as long as its transaction. */
export function oldQuotes(parts: RemovingParts): Rows<QuoteRecord> {
  return {
    page: (after, limit) =>
      parts.storage.find({ table: frameTables.quotes, index: "key", after: [after], limit }),
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
